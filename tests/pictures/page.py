"""A shown message, form or tab as a small web page, in a plain look of our own: no vendor's font, icon or logo."""

import html

from tests.pictures import discord_html, slack_html
from tests.pictures.markup import markdown
from tests.pictures.messages import Shown

COMMON = """
* { box-sizing: border-box } body { margin: 0; background: #fff }
#shown { width: 660px; padding: 18px 20px; font: 15px/1.46 "DejaVu Sans", "Liberation Sans", Arial, sans-serif;
  color: #1d1c1d; background: #fff }
.message { display: flex; gap: 10px; margin-bottom: 14px } .message:last-child { margin-bottom: 0 }
.message > div:last-child { flex: 1; min-width: 0 }
.face { width: 36px; height: 36px; border-radius: 8px; color: #fff; font-weight: bold; text-align: center;
  line-height: 36px; flex: none }
.who { font-weight: bold } .who small { font-weight: normal; color: #616061; margin-left: 6px; font-size: 12px }
.app { font-size: 10px; background: #e8e8ea; color: #555; border-radius: 3px; padding: 1px 4px; margin-left: 6px;
  vertical-align: 2px; font-weight: normal }
.gap { height: 9px } .small, .hint, .context { font-size: 12.5px; color: #616061 }
.item { padding-left: 16px; text-indent: -11px } .item::before { content: "• " }
blockquote { margin: 2px 0; padding: 1px 0 1px 12px; border-left: 4px solid #d0d0d4 }
code { font: 13px "DejaVu Sans Mono", monospace; background: #f4f4f6; border-radius: 3px; padding: 1px 4px;
  color: #a5204e }
.link { color: #1264a3 } .mention { color: #1264a3; background: #e8f2fa; border-radius: 3px; padding: 0 2px }
hr { border: 0; border-top: 1px solid #e0e0e3; margin: 10px 0 } h2 { font-size: 18px; margin: 18px 0 4px }
.actions { display: flex; flex-wrap: wrap; gap: 8px; margin: 8px 0 }
.button { border: 1px solid #c4c4c8; border-radius: 6px; padding: 5px 11px; font-size: 13.5px; font-weight: bold;
  background: #fff }
.menu, .typed { border: 1px solid #b5b5ba; border-radius: 6px; padding: 7px 11px; display: flex;
  justify-content: space-between; margin-top: 4px; min-height: 36px } .menu i { font-style: normal; color: #616061 }
.empty { color: #77777c } .label { font-weight: bold; margin-top: 12px } .typed.tall { min-height: 70px }
"""
SLACK = """
.section { display: flex; justify-content: space-between; gap: 16px; margin: 4px 0 } .beside { flex: none }
.context { margin: 4px 0 } .context span { margin-right: 8px } .button.primary { background: #0b6e4f; color: #fff;
  border-color: #0b6e4f } .button.danger { color: #c01c41; border-color: #c01c41 }
.thumb { font-size: 15px; border: 1px solid #dcdce0; border-radius: 14px; padding: 2px 9px }
.check { margin-top: 5px } .box { display: inline-block; width: 15px; height: 15px; border: 1px solid #77777c;
  border-radius: 3px; margin-right: 8px; vertical-align: -2px } .box.on { background: #1264a3; border-color: #1264a3 }
.box.on::after { content: "✓"; color: #fff; font-size: 12px; display: block; text-align: center;
  line-height: 14px }
.tasks { font-size: 13px; color: #616061; margin: 2px 0 6px }
.modal { border: 1px solid #d0d0d4; border-radius: 10px; padding: 16px 20px }
.modal h1 { font-size: 19px; margin: 0 0 8px }
"""
DISCORD = """
#shown { color: #2e3338 } .face { border-radius: 50% } .app { background: #4b5bd6; color: #fff }
.small { color: #5c6067 } .container { border: 1px solid #dfe0e4; border-left: 4px solid; border-radius: 8px;
  padding: 10px 14px; background: #f8f8fa; margin-top: 4px }
.button { border: 0; background: #e3e5e8; border-radius: 8px; padding: 7px 14px }
.button.primary { background: #4b5bd6; color: #fff } .button.danger { background: #c7353b; color: #fff }
.button.success { background: #2a7d46; color: #fff } .menu { width: 100%; background: #f8f8fa }
.menu span { margin-right: 10px } .actions { margin: 6px 0 10px }
.alone { font-size: 12.5px; color: #5c6067; margin-top: 8px }
"""


def slack_page(shown: Shown) -> str:
    """What was shown in Slack."""
    body = slack_html.blocks(shown.parts)
    if shown.kind == "modal":
        body = f'<div class="modal"><h1>{html.escape(shown.title)}</h1>{body}</div>'
    elif shown.kind == "message":
        before = slack_html.tasks(shown.tasks) + (markdown(shown.text) if shown.text else "")
        body = _asked(shown) + _message("Footnote", "#3b6ea5", before + body, app=True)
    return _page(COMMON + SLACK, body)


def discord_page(shown: Shown) -> str:
    """What was shown in Discord."""
    body = discord_html.components(shown.parts)
    if shown.alone:
        body += '<div class="alone">Only you can see this</div>'
    return _page(COMMON + DISCORD, _asked(shown) + _message("Footnote", "#3b6ea5", body, app=True))


def _asked(shown: Shown) -> str:
    if not shown.asked:
        return ""
    name, _, words = shown.asked.partition(" ")
    return _message("Alice", "#a5673b", f'<span class="mention">{html.escape(name)}</span> {html.escape(words)}')


def _message(who: str, colour: str, body: str, *, app: bool = False) -> str:
    mark = '<span class="app">APP</span>' if app else ""
    face = f'<div class="face" style="background:{colour}">{who[0]}</div>'
    return f'<div class="message">{face}<div><div class="who">{who}{mark}<small>10:24</small></div>{body}</div></div>'


def _page(style: str, body: str) -> str:
    return f'<!doctype html><meta charset="utf-8"><style>{style}</style><div id="shown">{body}</div>'

"""Files that no honest program writes, made when they are needed."""

import zipfile
import zlib
from io import BytesIO

W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
LAUGHS = (
    '<!DOCTYPE lolz [<!ENTITY l0 "lol">'
    + "".join(f'<!ENTITY l{i} "{f"&l{i - 1};" * 10}">' for i in range(1, 10))
    + "]>"
)


def packed(members: dict[str, bytes | str], *, symlink: str | None = None) -> bytes:
    """A zip of these members."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as package:
        for path, content in members.items():
            package.writestr(path, content)
        if symlink:
            info = zipfile.ZipInfo(symlink)
            info.external_attr = 0o120777 << 16
            package.writestr(info, "/etc/passwd")
    return out.getvalue()


def word(body: str, *, declaration: str = "") -> bytes:
    """A minimal DOCX with this XML in its body."""
    relations = "http://schemas.openxmlformats.org/package/2006/relationships"
    office = "http://schemas.openxmlformats.org/officeDocument/2006/relationships/officeDocument"
    main = "application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"
    return packed(
        {
            "[Content_Types].xml": (
                '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types">'
                '<Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/>'
                f'<Override PartName="/word/document.xml" ContentType="{main}"/></Types>'
            ),
            "_rels/.rels": (
                f'<Relationships xmlns="{relations}">'
                f'<Relationship Id="r1" Type="{office}" Target="word/document.xml"/></Relationships>'
            ),
            "word/document.xml": f"{declaration}<w:document {W}><w:body>{body}</w:body></w:document>",
        }
    )


def odt(text: str, *, declaration: str = "") -> bytes:
    """A minimal ODT with this paragraph."""
    names = "".join(f' xmlns:{n}="urn:oasis:names:tc:opendocument:xmlns:{n}:1.0"' for n in ("office", "text"))
    return packed(
        {
            "mimetype": "application/vnd.oasis.opendocument.text",
            "content.xml": (
                f"{declaration}<office:document-content{names}><office:body><office:text>"
                f"<text:p>{text}</text:p></office:text></office:body></office:document-content>"
            ),
        }
    )


def pdf_bomb(megabytes: int) -> bytes:
    """A PDF of a few kilobytes whose only page unpacks to this much."""
    packer = zlib.compressobj(9)
    block = b"BT /F1 1 Tf (x) Tj ET\n" * 50_000
    stream = b"".join(packer.compress(block) for _ in range(megabytes)) + packer.flush()
    objects = [
        b"<</Type/Catalog/Pages 2 0 R>>",
        b"<</Type/Pages/Kids[3 0 R]/Count 1>>",
        b"<</Type/Page/Parent 2 0 R/MediaBox[0 0 9 9]/Contents 4 0 R/Resources<</Font<</F1 5 0 R>>>>>>",
        b"<</Length %d/Filter/FlateDecode>>stream\n%s\nendstream" % (len(stream), stream),
        b"<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>",
    ]
    body = b"%PDF-1.4\n"
    for number, content in enumerate(objects, 1):
        body += b"%d 0 obj%s endobj\n" % (number, content)
    return body + b"trailer<</Root 1 0 R/Size 6>>\nstartxref\n0\n%%EOF\n"

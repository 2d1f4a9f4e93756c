"""Errors as vendors and servers document or send them: status and body, and what an operator has to be told.

Bodies are shortened to what they are recognised by; names of accounts and keys in them are invented.
"""

# ruff: noqa: E501 - messages stand as they are sent

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from core.model.errors import ModelFailure
from tests.fakes.model.endpoint import Raw, RecordedRequest

JSON = "application/json"


@dataclass(frozen=True)
class VendorError:
    """A reply, the kind of failure that it is, and when it comes: always, or only where a field is sent."""

    status: int
    body: object
    kind: ModelFailure | None = None  # None: the model answers in the end
    when: Callable[[RecordedRequest], bool] = field(default=lambda _: True)
    content_type: str = JSON

    @property
    def raw(self) -> Raw:
        """The reply as bytes."""
        text = self.body if isinstance(self.body, str) else json.dumps(self.body)
        return Raw((text.encode(),), status=self.status, content_type=self.content_type)


def _openai(message: str, kind: str = "invalid_request_error", code: object = None, param: object = None) -> object:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def _google(code: int, message: str, status: str, reason: str = "") -> object:
    details = [{"@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": reason}] if reason else []
    return [{"error": {"code": code, "message": message, "status": status, "details": details}}]


def _anthropic(kind: str, message: str) -> object:
    return {"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_1"}


def _mistral(message: object, kind: str, code: str) -> object:
    return {"object": "error", "message": message, "type": kind, "param": None, "code": code}


def _forbidden_field(name: str) -> object:
    detail = [{"type": "extra_forbidden", "loc": ["body", name], "msg": "Extra inputs are not permitted", "input": 1}]
    return _mistral({"detail": detail}, "invalid_request_error", "")


def _sends(name: str) -> Callable[[RecordedRequest], bool]:
    return lambda request: name in request.body


def _format(kind: str) -> Callable[[RecordedRequest], bool]:
    return lambda request: (request.body.get("response_format") or {}).get("type") == kind


def _html(title: str) -> str:
    return f"<html><head><title>{title}</title></head><body><h1>{title}</h1></body></html>"


def _streamed(said: object, kind: ModelFailure, *, event: str = "") -> VendorError:
    """An error in a stream that began with 200."""
    named = f"event: {event}\n" if event else ""
    body = f"{named}data: {json.dumps(said)}\n\n"
    return VendorError(200, body, kind, lambda request: request.stream, "text/event-stream")


F = ModelFailure
ERRORS: Mapping[str, VendorError] = {
    "OpenAI: wrong key": VendorError(
        401,
        _openai("Incorrect API key provided: sk-ab***yz. You can find yours at https://…", code="invalid_api_key"),
        F.KEY,
    ),
    "OpenAI: quota used up": VendorError(
        429,
        _openai(
            "You exceeded your current quota, please check your plan and billing details.",
            "insufficient_quota",
            "insufficient_quota",
        ),
        F.QUOTA,
    ),
    "OpenAI: rate limit, with an advertisement for billing": VendorError(
        429,
        _openai(
            "Rate limit reached for gpt-4o-mini in organization org-x on requests per min (RPM): Limit 3, Used 3, Requested 1."
            " Please try again in 20s. You can increase your rate limit by adding a payment method to your account at"
            " https://platform.openai.com/account/billing.",
            "requests",
            "rate_limit_exceeded",
        ),
        F.RATE_LIMIT,
    ),
    "OpenAI: one request over the tokens per minute": VendorError(
        429,
        _openai(
            "Request too large for gpt-4o in organization org-x on tokens per min (TPM): Limit 30000, Requested 40123."
            " The input or output tokens must be reduced in order to run successfully.",
            "tokens",
            "rate_limit_exceeded",
        ),
        F.CONTEXT,
    ),
    "OpenAI: unknown model": VendorError(
        404,
        _openai("The model `gpt-9` does not exist or you do not have access to it.", code="model_not_found"),
        F.MODEL,
    ),
    "OpenAI: the project may not use the model": VendorError(
        403, _openai("Project `proj_x` does not have access to model `gpt-4o`", code="model_not_found"), F.MODEL
    ),
    "OpenAI: country": VendorError(
        403,
        _openai(
            "Country, region, or territory not supported", "request_forbidden", "unsupported_country_region_territory"
        ),
        F.REGION,
    ),
    "OpenAI: overloaded": VendorError(
        503, _openai("The engine is currently overloaded, please try again later", "server_error"), F.SERVER
    ),
    "OpenAI: too long": VendorError(
        400,
        _openai(
            "This model's maximum context length is 8192 tokens. However, your messages resulted in 9000 tokens.",
            code="context_length_exceeded",
        ),
        F.CONTEXT,
    ),
    "OpenAI: streams only for verified organisations": VendorError(
        400,
        _openai(
            "Your organization must be verified to stream this model. Please go to: https://platform.openai.com/settings",
            code="unsupported_value",
            param="stream",
        ),
        None,
        _sends("stream"),
    ),
    "OpenAI: another temperature": VendorError(
        400,
        _openai(
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1) value is supported.",
            param="temperature",
        ),
        None,
        _sends("temperature"),
    ),
    "OpenAI: max_completion_tokens": VendorError(
        400,
        _openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            param="max_tokens",
        ),
        None,
        _sends("max_tokens"),
    ),
    "Azure: no such deployment": VendorError(
        404,
        {"error": {"code": "DeploymentNotFound", "message": "The API deployment for this resource does not exist."}},
        F.MODEL,
    ),
    "Azure: wrong key": VendorError(
        401,
        {"error": {"code": "401", "message": "Access denied due to invalid subscription key or wrong API endpoint."}},
        F.KEY,
    ),
    "Azure: rate limit": VendorError(
        429,
        {
            "error": {
                "code": "429",
                "message": "Requests to the ChatCompletions_Create Operation have exceeded token rate limit of your current"
                " OpenAI S0 pricing tier. Please retry after 2 seconds. Please go here: https://aka.ms/oai/quotaincrease.",
            }
        },
        F.RATE_LIMIT,
    ),
    "Azure: filtered prompt": VendorError(
        400,
        {
            "error": {
                "message": "The response was filtered due to the prompt triggering Azure OpenAI's policy.",
                "code": "content_filter",
                "innererror": {"code": "ResponsibleAIPolicyViolation"},
            }
        },
        F.CONTENT_FILTER,
    ),
    "Azure: firewall": VendorError(
        403, {"error": {"code": "403", "message": "Access denied due to Virtual Network/Firewall rules."}}, F.NETWORK
    ),
    "Azure: a model that does not chat": VendorError(
        400,
        {
            "error": {
                "code": "OperationNotSupported",
                "message": "The chatCompletion operation does not work with the specified model, text-embedding-3.",
            }
        },
        F.MODEL,
    ),
    "Azure: wrong path": VendorError(404, {"error": {"code": "404", "message": "Resource not found"}}, F.MODEL),
    "Azure: retired model": VendorError(
        410,
        {
            "error": {
                "code": "DeprecatedModel",
                "message": "The model gpt-35-turbo has been deprecated and is no longer available.",
            }
        },
        F.MODEL,
    ),
    "Anthropic: no credit, as a 400": VendorError(
        400, _anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."), F.QUOTA
    ),
    "Anthropic: overloaded": VendorError(529, _anthropic("overloaded_error", "Overloaded"), F.RATE_LIMIT),
    "Anthropic: too long": VendorError(
        400, _anthropic("invalid_request_error", "prompt is too long: 209303 tokens > 200000 maximum"), F.CONTEXT
    ),
    "Anthropic: too long with the reply": VendorError(
        400,
        _anthropic(
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 179413 + 32768 > 200000, decrease one of them",
        ),
        F.CONTEXT,
    ),
    "Anthropic: unknown model": VendorError(404, _anthropic("not_found_error", "model: claude-9"), F.MODEL),
    "Anthropic: wrong key": VendorError(401, _anthropic("authentication_error", "invalid x-api-key"), F.KEY),
    "Gemini: wrong key, as a 400": VendorError(
        400,
        _google(400, "API key not valid. Please pass a valid API key.", "INVALID_ARGUMENT", "API_KEY_INVALID"),
        F.KEY,
    ),
    "Gemini: requests per minute": VendorError(
        429,
        _google(
            429,
            "You exceeded your current quota, please check your plan and billing details. Quota exceeded for metric:"
            " generate_content_free_tier_requests, limit: 10. Please retry in 34.07s.",
            "RESOURCE_EXHAUSTED",
        ),
        F.RATE_LIMIT,
    ),
    "Gemini: overloaded": VendorError(
        503, _google(503, "The model is overloaded. Please try again later.", "UNAVAILABLE"), F.SERVER
    ),
    "Gemini: unknown model": VendorError(
        404,
        _google(
            404,
            "models/gemini-9 is not found for API version v1main, or is not supported for generateContent.",
            "NOT_FOUND",
        ),
        F.MODEL,
    ),
    "Gemini: too long": VendorError(
        400,
        _google(
            400,
            "The input token count (2800010) exceeds the maximum number of tokens allowed (1048575).",
            "INVALID_ARGUMENT",
        ),
        F.CONTEXT,
    ),
    "Gemini: country": VendorError(
        400, _google(400, "User location is not supported for the API use.", "FAILED_PRECONDITION"), F.REGION
    ),
    "Gemini: the API is not switched on": VendorError(
        403,
        _google(
            403,
            "Generative Language API has not been used in project 12 before or it is disabled.",
            "PERMISSION_DENIED",
            "SERVICE_DISABLED",
        ),
        F.KEY,
    ),
    "Gemini: safety, with 200": VendorError(
        200,
        {
            "choices": [
                {"index": 0, "finish_reason": "content_filter: PROHIBITED_CONTENT", "message": {"role": "assistant"}}
            ]
        },
        F.CONTENT_FILTER,
    ),
    "Mistral: wrong key": VendorError(401, {"detail": "Unauthorized"}, F.KEY),
    "Mistral: unknown model": VendorError(400, _mistral("Invalid model: mistral-9", "invalid_model", "1500"), F.MODEL),
    "Mistral: capacity": VendorError(
        429,
        _mistral("Service tier capacity exceeded for this model.", "service_tier_capacity_exceeded", "3505"),
        F.RATE_LIMIT,
    ),
    "Mistral: too long": VendorError(
        400,
        _mistral(
            "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context length",
            "invalid_request_prompt",
            "3051",
        ),
        F.CONTEXT,
    ),
    "Mistral: an extra field": VendorError(422, _forbidden_field("stream_options"), None, _sends("stream_options")),
    "Mistral: an extra field, in a string": VendorError(
        422,
        _mistral(
            json.dumps({"detail": [{"type": "extra_forbidden", "loc": ["body", "tool_choice"]}]}),
            "internal_error_proxy",
            "1000",
        ),
        None,
        _sends("tool_choice"),
    ),
    "Groq: too large for the minute": VendorError(
        413,
        _openai(
            "Request too large for model `llama` in organization `org` on tokens per minute (TPM): Limit 6000, Requested 8000,"
            " please reduce your message size and try again. Need more tokens? Upgrade at https://console.groq.com/settings/billing",
            "tokens",
            "rate_limit_exceeded",
        ),
        F.CONTEXT,
    ),
    "Groq: rate limit, with an advertisement for billing": VendorError(
        429,
        _openai(
            "Rate limit reached for model `llama` in organization `org` on tokens per day (TPD): Limit 100000, Used 99000,"
            " Requested 2000. Please try again in 7m. Need more tokens? Upgrade at https://console.groq.com/settings/billing",
            "tokens",
            "rate_limit_exceeded",
        ),
        F.RATE_LIMIT,
    ),
    "Groq: JSON that it could not make": VendorError(
        400,
        {
            "error": {
                "message": "Failed to generate JSON. Please adjust your prompt. See 'failed_generation' for more details.",
                "type": "invalid_request_error",
                "code": "json_validate_failed",
                "failed_generation": "Sure! {",
            }
        },
        None,
        _sends("response_format"),
    ),
    "Groq: a tool that it could not call": VendorError(
        400,
        {
            "error": {
                "message": "Failed to call a function. Please adjust your prompt. See 'failed_generation' for more details.",
                "type": "invalid_request_error",
                "code": "tool_use_failed",
                "failed_generation": "<function=search>",
            }
        },
        None,
        _sends("tools"),
    ),
    "Groq: decommissioned model": VendorError(
        400,
        _openai(
            "The model `llama2-70b` has been decommissioned and is no longer supported.", code="model_decommissioned"
        ),
        F.MODEL,
    ),
    "Groq: flex capacity": VendorError(
        498, _openai("Flex tier capacity exceeded, try again later", code="capacity_exceeded"), F.RATE_LIMIT
    ),
    "Together: too long": VendorError(
        422,
        _openai(
            "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 8193. Given: 9000 `inputs` tokens and 1200 `max_new_tokens`",
            param="max_tokens",
        ),
        F.CONTEXT,
    ),
    "Together: unknown model": VendorError(
        404,
        _openai(
            "Unable to access model meta-llama/x. Please visit https://api.together.ai/models to view the list of supported models.",
            code="model_not_available",
        ),
        F.MODEL,
    ),
    "OpenRouter: no credit": VendorError(
        402,
        {
            "error": {
                "code": 402,
                "message": "This request requires more credits, or fewer max_tokens. You requested up to 1200 tokens, but can only afford 222.",
            }
        },
        F.QUOTA,
    ),
    "OpenRouter: moderation": VendorError(
        403,
        {
            "error": {
                "code": 403,
                "message": 'openai/gpt-4o requires moderation on OpenAI. Your input was flagged for "violence".',
                "metadata": {"reasons": ["violence"], "flagged_input": "…", "provider_name": "OpenAI"},
            }
        },
        F.CONTENT_FILTER,
    ),
    "OpenRouter: no model ID": VendorError(
        400, {"error": {"code": 400, "message": "foo/bar is not a valid model ID"}}, F.MODEL
    ),
    "OpenRouter: nobody who serves tools": VendorError(
        404, {"error": {"code": 404, "message": "No endpoints found that support tool use."}}, None, _sends("tools")
    ),
    "OpenRouter: data policy": VendorError(
        404,
        {
            "error": {
                "code": 404,
                "message": "No endpoints found matching your data policy. Configure it in the settings.",
            }
        },
        F.MODEL,
    ),
    "OpenRouter: the provider's error with 200": VendorError(
        200,
        {
            "error": {
                "code": 502,
                "message": "Provider returned error",
                "metadata": {"raw": "upstream connect error", "provider_name": "X"},
            }
        },
        F.SERVER,
    ),
    "OpenRouter: rate limited upstream": VendorError(
        429,
        {
            "error": {
                "code": 429,
                "message": "Provider returned error",
                "metadata": {"raw": "x is temporarily rate-limited upstream. Please retry shortly."},
            }
        },
        F.RATE_LIMIT,
    ),
    "OpenRouter: timed out": VendorError(408, {"error": {"code": 408, "message": "Request timed out"}}, F.TIMEOUT),
    "OpenRouter: no such user": VendorError(401, {"error": {"message": "User not found.", "code": 401}}, F.KEY),
    "DeepSeek: no balance": VendorError(
        402, _openai("Insufficient Balance", "unknown_error", "invalid_request_error"), F.QUOTA
    ),
    "DeepSeek: wrong key": VendorError(
        401, _openai("Authentication Fails (no such user)", "authentication_error"), F.KEY
    ),
    "vLLM: unknown model": VendorError(
        404,
        {
            "object": "error",
            "message": "The model `x` does not exist.",
            "type": "NotFoundError",
            "param": None,
            "code": 404,
        },
        F.MODEL,
    ),
    "vLLM: too long": VendorError(
        400,
        {
            "object": "error",
            "message": "This model's maximum context length is 600 tokens. However, you requested 5000 tokens (3800 in the"
            " messages, 1200 in the completion). Please reduce the length of the messages or completion.",
            "type": "BadRequestError",
            "code": 400,
        },
        F.CONTEXT,
    ),
    "Kimi: too long": VendorError(
        400,
        _openai("Invalid request: Your request exceeded model token limit: 8192 (requested: 9000)"),
        F.CONTEXT,
    ),
    "DashScope: too long": VendorError(
        400,
        _openai("<400> InternalError.Algo.InvalidParameter: Range of input length should be [1, 30720]"),
        F.CONTEXT,
    ),
    "GLM: too long": VendorError(400, {"error": {"code": "1261", "message": "Prompt exceeds max length"}}, F.CONTEXT),
    "xAI: too long": VendorError(
        400,
        {
            "code": "Client specified an invalid argument",
            "error": "This model's maximum prompt length is 131072 but the request contains 140000 tokens.",
        },
        F.CONTEXT,
    ),
    "vLLM: no tool parser": VendorError(
        400,
        {
            "object": "error",
            "message": '"auto" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set',
            "code": 400,
        },
        None,
        _sends("tools"),
    ),
    "vLLM: wrong key": VendorError(401, {"error": "Unauthorized"}, F.KEY),
    "vLLM: no chat template": VendorError(
        400,
        {
            "object": "error",
            "message": "As of transformers v4.44, default chat template is no longer allowed, so you must provide a chat template.",
            "code": 400,
        },
        F.MODEL,
    ),
    "vLLM: Gemma takes no system role": VendorError(
        400,
        {"object": "error", "message": "System role not supported", "type": "BadRequestError", "code": 400},
        None,
        lambda request: any(message.get("role") == "system" for message in request.messages),
    ),
    "llama.cpp: still loading": VendorError(
        503, {"error": {"code": 503, "message": "Loading model", "type": "unavailable_error"}}, F.LOADING
    ),
    "llama.cpp: too long": VendorError(
        400,
        {
            "error": {
                "code": 400,
                "message": "request (4390 tokens) exceeds the available context size (600 tokens), try increasing it",
                "type": "exceed_context_size_error",
                "n_prompt_tokens": 4390,
                "n_ctx": 600,
            }
        },
        F.CONTEXT,
    ),
    "llama.cpp: too long, as a 500": VendorError(
        500, {"error": {"code": 500, "message": "Context size has been exceeded.", "type": "server_error"}}, F.CONTEXT
    ),
    "llama.cpp: too long, with 200": VendorError(
        200,
        {
            "error": {
                "code": 400,
                "message": "the request exceeds the available context size",
                "type": "exceed_context_size_error",
            }
        },
        F.CONTEXT,
    ),
    "llama.cpp: tools need --jinja": VendorError(
        500,
        {"error": {"code": 500, "message": "tools param requires --jinja flag", "type": "server_error"}},
        None,
        _sends("tools"),
    ),
    "llama.cpp: a schema that it cannot make a grammar of": VendorError(
        400,
        {
            "error": {
                "code": 400,
                "message": "Failed to initialize samplers: failed to parse grammar",
                "type": "invalid_request_error",
            }
        },
        None,
        _format("json_schema"),
    ),
    "llama.cpp: wrong key": VendorError(
        401, {"error": {"code": 401, "message": "Invalid API Key", "type": "authentication_error"}}, F.KEY
    ),
    "Ollama: unknown model": VendorError(
        404,
        {"error": {"message": 'model "llama9" not found, try pulling it first', "type": "api_error", "code": None}},
        F.MODEL,
    ),
    "Ollama: no tools": VendorError(
        400,
        {"error": {"message": "registry.ollama.ai/library/gemma:2b does not support tools", "type": "api_error"}},
        None,
        _sends("tools"),
    ),
    "Ollama: too little memory": VendorError(
        500,
        {
            "error": {
                "message": "model requires more system memory (8.4 GiB) than is available (5.1 GiB)",
                "type": "api_error",
            }
        },
        F.MEMORY,
    ),
    "Ollama: busy": VendorError(
        503, {"error": {"message": "server busy, please try again.  maximum pending requests exceeded"}}, F.RATE_LIMIT
    ),
    "LM Studio: too long": VendorError(
        400,
        {
            "error": "Trying to keep the first 6547 tokens when context the overflows. However, the model is loaded with context length of only 600 tokens, which is not enough."
        },
        F.CONTEXT,
    ),
    "LM Studio: too long, newer": VendorError(
        400,
        {
            "error": "The number of tokens to keep from the initial prompt is greater than the context length (n_keep: 13055>= n_ctx: 600)."
        },
        F.CONTEXT,
    ),
    "LM Studio: nothing loaded": VendorError(
        404,
        _openai(
            "No models loaded. Please load a model in the developer page or use the 'lms load' command.",
            code="model_not_found",
            param="model",
        ),
        F.MODEL,
    ),
    "LM Studio: unloaded": VendorError(400, {"error": "Model unloaded."}, F.MODEL),
    "LM Studio: json_object": VendorError(
        400, {"error": "'response_format.type' must be 'json_schema' or 'text'"}, None, _format("json_object")
    ),
    "LM Studio: a wrong path, with 200": VendorError(
        200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"}, F.MALFORMED
    ),
    "TGI: too long": VendorError(
        422,
        {
            "error": "Input validation error: `inputs` tokens + `max_new_tokens` must be <= 4096. Given: 4545 `inputs` tokens and 1200 `max_new_tokens`",
            "error_type": "validation",
        },
        F.CONTEXT,
    ),
    "TGI: inputs too long": VendorError(
        422,
        {
            "error": "Input validation error: `inputs` must have less than 4096 tokens. Given: 4545",
            "error_type": "validation",
        },
        F.CONTEXT,
    ),
    "TGI: overloaded": VendorError(429, {"error": "Model is overloaded", "error_type": "overloaded"}, F.RATE_LIMIT),
    "TGI: out of memory": VendorError(
        424,
        {"error": "Request failed during generation: Server error: CUDA out of memory.", "error_type": "generation"},
        F.MEMORY,
    ),
    "LiteLLM: budget, as a 400": VendorError(
        400,
        _openai("Budget has been exceeded! Current cost: 0.3759, Max budget: 0.35", "budget_exceeded", "400"),
        F.QUOTA,
    ),
    "LiteLLM: budget": VendorError(
        429,
        _openai("ExceededBudget: End User=ada over budget. Spend=0.0008, Budget=0.0001", "budget_exceeded", "429"),
        F.QUOTA,
    ),
    "LiteLLM: too long": VendorError(
        400,
        _openai(
            "litellm.BadRequestError: litellm.ContextWindowExceededError: AnthropicError - prompt is too long: 200480 tokens > 200000 maximum",
            "",
            "400",
        ),
        F.CONTEXT,
    ),
    "LiteLLM: unknown model": VendorError(
        400,
        _openai(
            "/chat/completions: Invalid model name passed in model=x. Call `/v1/models` to view available models for your key."
        ),
        F.MODEL,
    ),
    "LiteLLM: wrong key": VendorError(
        401,
        _openai(
            "Authentication Error, Invalid proxy server token passed. Unable to find token in cache or `LiteLLM_VerificationTokenTable`",
            "auth_error",
            "401",
        ),
        F.KEY,
    ),
    "LiteLLM: an unsupported field": VendorError(
        400,
        _openai(
            "litellm.UnsupportedParamsError: ollama does not support parameters: ['tools', 'tool_choice']. To drop these, set `litellm.drop_params=True`"
        ),
        None,
        _sends("tools"),
    ),
    "LiteLLM: nobody free": VendorError(
        429,
        _openai("No deployments available for selected model, Try again in 60 seconds. Passed model=x", "", "429"),
        F.RATE_LIMIT,
    ),
    "vLLM: too long, in the stream": _streamed(
        {
            "object": "error",
            "message": "This model's maximum context length is 600 tokens. However, you requested 5000 tokens.",
            "type": "BadRequestError",
            "code": 400,
        },
        F.CONTEXT,
    ),
    "TGI: overloaded, in the stream": _streamed(
        {"error": "Model is overloaded", "error_type": "overloaded"}, F.RATE_LIMIT
    ),
    "Anthropic: overloaded, in the stream": _streamed(
        {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}},
        F.RATE_LIMIT,
        event="error",
    ),
    "OpenRouter: the provider is lost, in the stream": _streamed(
        {
            "id": "gen-1",
            "object": "chat.completion.chunk",
            "error": {"code": "server_error", "message": "Provider disconnected unexpectedly"},
            "choices": [{"index": 0, "delta": {"content": ""}, "finish_reason": "error"}],
        },
        F.SERVER,
    ),
    "LM Studio: out of memory, in the stream": _streamed(
        {"error": {"message": "The model has crashed without additional information: out of memory"}},
        F.MEMORY,
        event="error",
    ),
    "Mistral: an error with 200": VendorError(
        200, _mistral("Rate limit exceeded", "rate_limited", "1300"), F.RATE_LIMIT
    ),
    "nginx: bad gateway": VendorError(502, _html("502 Bad Gateway"), F.SERVER, content_type="text/html"),
    "nginx: gateway timeout": VendorError(504, _html("504 Gateway Time-out"), F.TIMEOUT, content_type="text/html"),
    "nginx: entity too large": VendorError(
        413, _html("413 Request Entity Too Large"), F.CONTEXT, content_type="text/html"
    ),
    "Cloudflare: a timeout": VendorError(524, _html("A timeout occurred"), F.TIMEOUT, content_type="text/html"),
    "Cloudflare: just a moment": VendorError(403, _html("Just a moment..."), F.NETWORK, content_type="text/html"),
    "a company's proxy wants a password": VendorError(
        407, _html("Proxy Authentication Required"), F.NETWORK, content_type="text/html"
    ),
    "a wrong path behind a web server": VendorError(404, _html("404 Not Found"), F.MODEL, content_type="text/html"),
    "a method that the path does not take": VendorError(405, {"detail": "Method Not Allowed"}, F.MALFORMED),
}

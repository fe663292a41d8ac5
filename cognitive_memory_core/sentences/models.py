"""Messages about a model, its address or its answer: for the operator, and for the historian's model itself."""

from __future__ import annotations

from .settings import env_name

MODEL_TOO_SLOW = "模型（{role}）{seconds:g} 秒内没有答完，稍后再试"
MODEL_AWAY = "模型（{role}）暂时不可用（HTTP {status}），稍后再试"
INPUT_REFUSED = "模型（{role}）不接受这段内容（HTTP {status}）"
QUESTION_FILTERED = "模型服务的内容过滤拦下了这段内容"
ANSWER_TOO_LARGE = "模型的回答超过 {limit} 字节，没有读"
ANSWER_PACKED = "模型的回答是压缩过的，而这里没有要求压缩，所以没有读"
ANSWER_IS_A_PAGE = "模型地址返回的是网页，请检查 API_URL（通常要写到 /v1）"
ANSWER_NOT_JSON = "模型的回答不是完整的 JSON"
ANSWER_MALFORMED = "模型的回答格式不对"
ANSWER_AMBIGUOUS = "模型的回答有歧义（重复或多个结果）"
ANSWER_CUT_OFF = "模型的回答没写完就到了长度上限，可以调大 MAX_TOKENS"
ANSWER_WITHOUT = "模型的回答里没有可用的 {member}"
SUMMARY_TOO_LONG = "摘要远远超过了 {tokens} 个 token"
TOO_FEW_VECTORS = "向量模型给了 {given} 个向量，应为 {wanted} 个"
WRONG_DIMENSIONS = "向量模型给了 {given} 维，应为 {wanted} 维；换了模型请改 MODEL_NAME，或检查 DIMENSIONS"
VECTOR_UNUSABLE = "向量模型给的向量不能用（空、全零、不是有限的数或太大）"
SCORE_UNUSABLE = "重排模型给的分数不在 0 到 1 之间"
CHAT_FAILED = "自带的对话模型出错（{reason}）"
LOCAL_MODEL_LOADS = "本机的模型正在载入，这次先不用它"
EMBEDDER_FAILED = "向量模型出错（{reason}），稍后再试"
LOCAL_EMBEDDER_FAILED = (
    "本机的向量模型 {name} 载入不了（{reason}），先只按字词找；修好后重启，或设 MODELS__EMBEDDING__LOCAL=hash"
)
LOCAL_RERANKER_FAILED = "本机的重排模型 {name} 载入不了（{reason}），先不重排；修好后重启"
RERANKER_FAILED = "自带的重排模型出错（{reason}）"
TOO_SLOW = "本机的重排模型 {seconds:g} 秒没有答完"
FASTEMBED_WANTED = "要用这个模型，先运行 pip install 'nonebot-plugin-cognitive-memory[fastembed]'"
NOT_DOWNLOADED = "{folder} 里没有它的文件，运行 cognitive-memory download {name}"
UNKNOWN_LOCAL_MODEL = "fastembed 里没有叫 {name} 的模型"
NOT_ON_THE_HUB = "{name} 不能这样下载：自己下载到一个文件夹，写在 LOCAL_PATH 里"
DOWNLOAD_FAILED = (
    "没有下载成 {name}（{reason}）；再运行一次会接着下，连不上时设环境变量 HF_ENDPOINT（镜像）或 HTTPS_PROXY"
)
OVER_DAILY_CALLS = "今天的模型调用已达上限 daily_calls={limit}，先由规则史官继续工作，明天恢复"
NO_CHAT_MODEL = "没有为这件事配置对话模型，由规则史官处理"
LENDER_FAILED = "问不到能借的对话模型（{reason}），先由规则史官处理"
LENT_NO_MORE = "没有可借的对话模型了，由规则史官处理"
CANCELLED_BY_NOBODY = "调用从内部被取消了"
FEEDBACK = {
    "empty": "没有写出内容；每条观察都要写成一句陈述，不能说没有新信息，也不能拒绝。",
    "too_long": "写得太长；只写这一条观察说了什么，一两句话。",
    "unfounded": "写的不是这条观察的内容；只能写观察里说了的事。",
    "figure": "数字、钟点或日期与原话不同；数字照原样写，日期从说话那天推算，推不出就不写。",
    "quote": "引号里的话不在所依据的行里；引号里照原话写，或者不用引号。",
}
FEEDBACK_LEANING = {
    "pronoun": "有人称代词{words}，换成 名字(id)。",
    "time": "有相对时间{words}，按消息的时间换成日期；每周的写“每周六”，推不出的写“之前、以后”或省去，不编日期。",
    "place": "有相对地点{words}，换成地点或群的名字。",
}
FEEDBACK_LOST = "丢了观察里的 id：{ids}；要写成 名字(id)。"
FEEDBACK_FOREIGN = "写了没有给出的、或不属于那个名字的 id：{ids}；只能用给出的 id。"


# of these, each names settings as .env has them: see told
ADDRESS_UNUSABLE = "{api_url} 应为 http:// 或 https:// 开头的地址，不带账号和问号，例如 https://api.example.com/v1"
ADDRESS_FORBIDDEN = "{api_url} 指向链路本地地址或云主机的元数据服务，不会连接；请换成模型服务的地址"
KEY_UNUSABLE = "{api_key} 里有空格、换行或非英文字符，请重新复制"
PROXY_UNUSABLE = "{proxy} 不能用：应为 http:// 或 https:// 开头的地址"
MODEL_UNREACHABLE = "连不上模型，稍后再试；一直这样请检查 {api_url} 和网络"
CERTIFICATE_REFUSED = "和模型服务建立加密连接失败，请检查 {api_url} 的 http/https 和对方的证书"
KEY_REFUSED = "模型服务不接受密钥或余额不足（HTTP {status}），请检查 {api_key}"
ADDRESS_MOVED = "模型地址被重定向（HTTP {status}），不会跟随；请把 {api_url} 改成最终的地址"
NO_MODEL_THERE = "模型服务没有这个接口或模型（HTTP {status}），请检查 {api_url}（通常写到 /v1 为止）和 {model_name}"
PARAMETER_REFUSED = (
    "模型不接受请求里的参数（HTTP {status}），请检查 {max_tokens}、TEMPERATURE 和 EXTRA_BODY；"
    '只认 max_completion_tokens 的模型可以写 EXTRA_BODY={{"max_tokens":null,"max_completion_tokens":2048}}'
)


def told(template: str, role: str, status: int = 0, lender: str = "") -> str:
    """Return a message about the model of a role, with the names of its settings, or of the lender's."""
    keys = ("api_url", "api_key", "model_name", "max_tokens")
    named = {key: env_name(f"models.{role}.{key}") for key in keys}
    if lender:
        named |= {key: f"{lender} 的{what}" for key, what in _LENT.items()}
    return template.format(role=role, status=status, **named)


_LENT = {"api_url": "模型地址", "api_key": "密钥", "model_name": "模型名", "proxy": "代理"}


OF_LENDER = "{model}（{lender} 的）"
LENT = "{what}用 {lender} 的模型 {model}（{host}，费用算在它的密钥上）"
LENT_TO = {"historian": "史官", "embedding": "向量", "rerank": "重排"}
SUMMARY_REFUSED = "摘要里的 id 对不上（{ids}）"

"""English for what the core reports in Chinese, for the console: pairs of templates with the same placeholders.

A sentence that is not listed here is shown in the core's Chinese and marked as such.
"""

from __future__ import annotations

PAIRS: tuple[tuple[str, str], ...] = (
    # what to do about a failed job
    (
        (
            "任务的文件坏了，直接重试没用：文件在机器人数据目录的 queues/failed/ 里，会改的改好再重试；"
            "不会改就把这个文件删掉，只少这一段整理出的记忆，聊天原话还在"
        ),
        (
            "This stretch of chat was not processed. Repair its file (in queues/failed/ of the data directory) "
            "before you try again; or delete it: only what would have been learned is lost, the lines stay"
        ),
    ),
    ("检查密钥和余额，再重试", "Check the key and the balance, then try again"),
    ("检查模型的地址和名字，再重试", "Check the model's address and name, then try again"),
    ("等模型恢复后重试", "Try again when the model is back"),
    ("腾出磁盘空间或改好权限，再重试", "Free disk space or mend the permissions, then try again"),
    ("升级插件后重试", "Try again after an upgrade of the plugin"),
    (
        "模型不肯处理这段内容：换一个模型再重试，或留着不管，30 天后会清掉",
        "The model refuses this content: try again with another model, or leave it; it is removed after 30 days",
    ),
    (
        "重试一次；再失败就带上错误和日志报告问题",
        "Try once more; if it fails again, report it with the error and the log",
    ),
    # models
    (
        "模型（{role}）{seconds} 秒内没有答完，稍后再试",
        "The model ({role}) did not finish within {seconds} s; try again later",
    ),
    (
        "模型（{role}）暂时不可用（HTTP {status}），稍后再试",
        "The model ({role}) is unavailable (HTTP {status}); try again later",
    ),
    (
        "模型（{role}）不接受这段内容（HTTP {status}）",
        "The model ({role}) does not accept this content (HTTP {status})",
    ),
    ("模型服务的内容过滤拦下了这段内容", "The content filter of the model's provider stopped this content"),
    ("模型的回答超过 {limit} 字节，没有读", "The model's answer is over {limit} bytes and was not read"),
    (
        "模型地址返回的是网页，请检查 API_URL（通常要写到 /v1）",
        "The model's address returned a web page; check API_URL (it usually ends in /v1)",
    ),
    ("模型的回答不是完整的 JSON", "The model's answer is no complete JSON"),
    ("模型的回答格式不对", "The model's answer has another form than asked for"),
    ("模型的回答有歧义（重复或多个结果）", "The model's answer is ambiguous (repeated, or several results)"),
    (
        "模型的回答没写完就到了长度上限，可以调大 MAX_TOKENS",
        "The model's answer reached its length limit unfinished; raise MAX_TOKENS",
    ),
    ("模型的回答里没有可用的 {member}", "The model's answer has no usable {member}"),
    (
        "今天的模型调用已达上限 daily_calls={limit}，先由规则史官继续工作，明天恢复",
        "The model calls of today are spent (daily_calls={limit}); the rules work on until tomorrow",
    ),
    ("没有为这件事配置对话模型，由规则史官处理", "No chat model is set for this; the rules do it"),
    ("向量模型给了 {given} 个向量，应为 {wanted} 个", "The embedding model gave {given} vectors instead of {wanted}"),
    (
        "向量模型给了 {given} 维，应为 {wanted} 维；换了模型请改 MODEL_NAME，或检查 DIMENSIONS",
        (
            "The embedding model gave {given} dimensions instead of {wanted}; after a change of the model set "
            "MODEL_NAME, or check DIMENSIONS"
        ),
    ),
    (
        "向量模型给的向量不能用（空、全零、不是有限的数或太大）",
        "The embedding model's vectors cannot be used (empty, all zero, not finite or too large)",
    ),
    ("重排模型给的分数不在 0 到 1 之间", "The reranker's scores are not between 0 and 1"),
    ("自带的对话模型出错（{reason}）", "The chat model given by the code fails ({reason})"),
    ("向量模型出错（{reason}），稍后再试", "The embedding model fails ({reason}); try again later"),
    ("自带的重排模型出错（{reason}）", "The reranker given by the code fails ({reason})"),
    (
        "连不上模型，稍后再试；一直这样请检查 {setting} 和网络",
        "The model cannot be reached; try again later. If it stays so, check {setting} and the network",
    ),
    (
        "和模型服务建立加密连接失败，请检查 {setting} 的 http/https 和对方的证书",
        "No secure connection to the model; check http/https in {setting} and the other side's certificate",
    ),
    (
        "模型服务不接受密钥或余额不足（HTTP {status}），请检查 {setting}",
        "The provider refuses the key, or the balance is spent (HTTP {status}); check {setting}",
    ),
    (
        "模型地址被重定向（HTTP {status}），不会跟随；请把 {setting} 改成最终的地址",
        "The model's address redirects (HTTP {status}), which is not followed; set {setting} to the final address",
    ),
    (
        "模型服务没有这个接口或模型（HTTP {status}），请检查 {setting}（通常写到 /v1 为止）和 {name}",
        "The provider has no such path or model (HTTP {status}); check {setting} (it usually ends in /v1) and {name}",
    ),
    # storage
    (
        "写不进 {path}（{reason}）：请检查磁盘空间和目录权限，这一轮没有记下",
        "Cannot write to {path} ({reason}): check the disk's space and the permissions; this turn was not recorded",
    ),
    (
        "数据目录 {path} 正被另一个机器人使用；若是两个机器人，请在各自的 .env 里加上 LOCALSTORE_USE_CWD=true",
        "Another bot uses the data directory {path}; for two bots add LOCALSTORE_USE_CWD=true to each one's .env",
    ),
    (
        "数据目录 {path} 被删除、改名或换掉了：已停止写入，新的内容一概不收；请把原来的目录放回原处，或重启机器人",
        (
            "The data directory {path} was deleted, renamed or replaced: nothing more is written or accepted. Put the "
            "directory back, or restart the bot"
        ),
    ),
    (
        "账本 {path} 已损坏（{reason}）：什么都没有改动，请从备份恢复，或把它移走后重启",
        "The ledger {path} is damaged ({reason}): nothing was changed; restore a backup, or move it and restart",
    ),
    (
        (
            "账本 {path} 是更新的版本写的（格式 {found}，这里只认到 {known}），需要 {release} 或更新的版本："
            "什么都没有改动，请升级插件，或按 docs/upgrading.md 换回升级前留下的副本"
        ),
        (
            "A newer version wrote the ledger {path} (format {found}; this one knows up to {known}), {release} or "
            "later is needed: nothing was changed; upgrade the plugin, or use the copy made before the upgrade"
        ),
    ),
    (
        (
            "账本 {path} 是更新的版本写的（格式 {found}，这里只认到 {known}），需要更新的版本："
            "什么都没有改动，请升级插件，或按 docs/upgrading.md 换回升级前留下的副本"
        ),
        (
            "A newer version wrote the ledger {path} (format {found}; this one knows up to {known}): nothing was "
            "changed; upgrade the plugin, or use the copy made before the upgrade"
        ),
    ),
    ("读不了账本 {path}（{reason}）", "The ledger {path} cannot be read ({reason})"),
    ("账本已经关闭", "The ledger is closed"),
    ("任务有 {size} 字节，最多 {limit} 字节", "The job has {size} bytes, {limit} at most"),
    ("文件读不出来（{reason}）", "The file cannot be read ({reason})"),
    ("任务文件看不懂（{reason}）", "The job's file cannot be understood ({reason})"),
    (
        "处理它时进程结束了 {times} 次，先搁置；查明原因后可以重新排队",
        "The process ended {times} times while working on it; it is set aside and can be queued again",
    ),
    (
        "失败的原因没能写下来（当时磁盘拒绝写入）",
        "Why it failed could not be written down (the disk refused at that time)",
    ),
    ("向量索引还没有建好，先用精确检索", "The vector index is not built yet; exact search answers meanwhile"),
    (
        "另一个进程还占着 {folder}，向量索引先不开，稍后再试",
        "Another process holds {folder}; the vector index is tried again later",
    ),
    (
        "Chroma 服务不接受令牌，请检查 COGNITIVE_MEMORY__VECTOR_STORE__TOKEN",
        "The Chroma server refuses the token; check COGNITIVE_MEMORY__VECTOR_STORE__TOKEN",
    ),
    (
        "连不上 Chroma 服务，请检查它是否开着，和 COGNITIVE_MEMORY__VECTOR_STORE__URL",
        "The Chroma server cannot be reached; check that it runs, and COGNITIVE_MEMORY__VECTOR_STORE__URL",
    ),
    ("Chroma 没有做成（{reason}），稍后再试", "Chroma failed ({reason}); it is tried again later"),
    (
        "Chroma 的进程结束了（状态 {status}），会重新启动",
        "Chroma's process ended (status {status}) and will be started again",
    ),
    (
        "Chroma 的进程太久没有回答，已经结束它，会重新启动",
        "Chroma's process did not answer for too long; it was ended and will be started again",
    ),
    ("Chroma 正忙或回答得太慢，这一次不用它", "Chroma is busy or answers too slowly, and is left out this time"),
    ("向量索引已经关闭", "The vector index is closed"),
    (
        "没有能用的 chromadb（{reason}），向量检索改用精确搜索；装好后重启即可",
        "No usable chromadb ({reason}); exact search answers instead. Install it and restart",
    ),
    # refusals of what a form asks for
    ("这里没有这条记忆", "There is no such memory here"),
    ("这里没有这条置顶", "There is no such pin here"),
    ("置顶已满 {limit} 条，请先删掉一条", "There are {limit} pins already; delete one first"),
    ("未启用", "not enabled"),
    (
        "{what} 必须是 1 到 128 个字符、不含控制字符的文本，收到的是 {value}",
        "{what} must be text of 1 to 128 characters without control characters, not {value}",
    ),
    ("这份侧写没有版本 {revision}", "This profile has no version {revision}"),
    (
        "导出和备份不能放在数据目录里面（{path}），请换一个数据目录之外的地方",
        "An export or a backup cannot lie in the data directory ({path}); choose a place outside of it",
    ),
    (
        "{path} 已经有内容，请换一个新的或空的目录来放备份",
        "{path} is not empty; choose a new or empty folder for the backup",
    ),
    # settings
    ("{key} 不能设成 {value}（{reason}）", "{key} cannot be {value} ({reason})"),
    (
        "{key} 重启后生效：请写进 .env（{line}=…），再重启机器人",
        "{key} needs a restart: write it into .env ({line}=…) and restart the bot",
    ),
    (
        "{key} 要设成什么？请把值写在后面，例如 {same} {example}；空的列表写 []",
        "What shall {key} be? For instance {same} {example}; [] is the empty list",
    ),
    (
        "{key} 的值太长，最多 {limit} 个字符；更长的请写进 .env",
        "The value of {key} is too long ({limit} characters at most); write it into .env",
    ),
    ("应为 true 或 false", "true or false is wanted"),
    ("应为数", "a number is wanted"),
    ("应为有限的数", "a finite number is wanted"),
    ("应为整数", "a whole number is wanted"),
    ("应为文本", "text is wanted"),
    ("这个数太大", "this number is too large"),
    ("必须大于 {gt}", "it must be over {gt}"),
    ("不能小于 {ge}", "it must be at least {ge}"),
    ("必须小于 {lt}", "it must be under {lt}"),
    ("不能大于 {le}", "it must be at most {le}"),
    ("最多 {max_length} 个字符", "{max_length} characters at most"),
    ("至少 {min_length} 个字符", "{min_length} characters at least"),
    (
        "不认识的时区 {zone}，例如可以写 Asia/Shanghai",
        "Unknown time zone {zone}; one is Asia/Shanghai",
    ),
)

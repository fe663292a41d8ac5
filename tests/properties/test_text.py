"""Properties of the text functions for arbitrary text."""

from __future__ import annotations

import asyncio
import math
import unicodedata

from hypothesis import given
from hypothesis import strategies as st

from cognitive_memory_core.models.hashing import HashingEmbedder
from cognitive_memory_core.text.cleaning import clean_text
from cognitive_memory_core.text.fences import defused
from cognitive_memory_core.text.names import clean_name
from cognitive_memory_core.text.tokens import token_count

TRICKY = (
    "\u200d\ufe0f\ufe0e\u0301\u0338\u20e3\u202e\u2066\u200b\u3164\u2800\u00ad\u2028\x85\r\n\t\x00\ud800\ue000\U000e0041"
    "<>[]()（）＜＞［］【】〈〉⑴`｀1#👩👧❤🏽🇨が\u3099ｶﾞ\u1100\u1161ßİﬁ𠮷猫的aé.-_'@。！？!?”）"
)
characters = st.one_of(st.sampled_from(TRICKY), st.characters(exclude_categories=()))
texts = st.text(characters, max_size=60)
UNSEEN = {"Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp"}


@given(texts, st.integers(0, 50))
def test_a_name_is_safe_to_show(name: str, limit: int) -> None:
    """A cleaned name is one line of visible characters without round brackets, bounded, and stays the same."""
    clean = clean_name(name, limit=limit)
    assert len(clean) <= limit
    assert not {unicodedata.category(char) for char in clean.replace("\u200d", "")} & UNSEEN
    assert not set("()\n\t") & set(unicodedata.normalize("NFKC", clean))
    assert clean == clean.strip() == clean_name(clean, limit=limit)
    assert clean.encode().decode() == clean


@given(texts)
def test_a_clean_text_is_text(text: str) -> None:
    """A cleaned text is NFC, encodable, without hidden characters, and stays the same when cleaned again."""
    clean = clean_text(text)
    assert clean == clean_text(clean) == unicodedata.normalize("NFC", clean)
    assert not {unicodedata.category(char) for char in clean if char not in "\n\t\u200d"} & UNSEEN
    assert clean.encode().decode() == clean


@given(texts)
def test_no_text_opens_or_closes_anything(text: str) -> None:
    """A defused text is one line without tags, fences or square brackets, and stays the same."""
    harmless = defused(text)
    assert harmless == defused(harmless)
    for form in ("NFC", "NFKC", "NFKD"):
        read = unicodedata.normalize(form, harmless)
        assert not set("<>[]`\n\r") & set(read)
        assert len(read.splitlines()) <= 1


@given(texts, texts)
def test_tokens_add_up(one: str, other: str) -> None:
    """Every text has a token count of at least one and at most four per character, and parts never cost less."""
    assert (token_count(one) > 0) == bool(one)
    assert token_count(one) <= 4 * len(one)
    assert token_count(one + other) <= token_count(one) + token_count(other)


@given(texts)
def test_every_text_has_a_direction(text: str) -> None:
    """Every text has a finite unit vector, and no text is nearer to another than to itself."""
    embedder = HashingEmbedder()
    asked = asyncio.run(embedder.embed_query(text))
    (written,) = asyncio.run(embedder.embed_documents([text]))
    for vector in (asked, written):
        assert math.isclose(math.fsum(value * value for value in vector), 1.0, abs_tol=1e-5)

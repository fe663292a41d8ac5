"""The vector index on Chroma, which runs in a supervised process; the only package that imports chromadb."""

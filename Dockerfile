# The base by its digest: docker build --build-arg PYTHON_IMAGE=python:3.11-slim@sha256:… (`make digests` prints it). A
# tag alone is what its publisher says today.
ARG PYTHON_IMAGE=python:3.11-slim
# Slim and non-root; the embedding model comes in its package, so nothing is downloaded when the bot starts.
FROM ${PYTHON_IMAGE} AS build
WORKDIR /app
RUN python -m venv /venv
ENV PATH=/venv/bin:$PATH PIP_NO_CACHE_DIR=1
COPY pyproject.toml constraints.txt requirements.lock README.md LICENSE ./
COPY footnote.py ./
COPY bot bot
COPY core core
COPY adapters adapters
# The CPU build of torch: an unpinned one brings gigabytes of CUDA packages.
ARG TORCH_INDEX=https://download.pytorch.org/whl/cpu
# Workers of several machines keep files in an object store. Others: gcs, azure, ocr, otel.
ARG EXTRAS=s3
# The others are checked against the hashes of requirements.lock, setuptools for the build included. Other extras than s3
# come after that, with versions and without hashes.
RUN pip install --constraint constraints.txt --index-url "$TORCH_INDEX" --no-deps torch \
 && pip install --no-deps --require-hashes --requirement requirements.lock \
 && pip install --no-build-isolation --constraint constraints.txt ".[${EXTRAS}]"
# What only developers of these packages need: 300 MB.
RUN find /venv -type d -name tests -prune -exec rm -rf {} + \
 && rm -rf /venv/lib/python3*/site-packages/torch/include /venv/lib/python3*/site-packages/torch/test
# Cache the reranker where a hub can be reached; without one the image works, ranking without it.
ARG RERANKER_MODEL=cross-encoder/ms-marco-MiniLM-L6-v2
ENV HF_HOME=/models
RUN mkdir -p /models && python -c "import sys; from sentence_transformers import CrossEncoder; CrossEncoder(sys.argv[1])" \
    "$RERANKER_MODEL" || echo "No hub: the image has no reranker."

FROM ${PYTHON_IMAGE}
# A volume that is new takes the owner of the folder that it is mounted on.
RUN useradd --uid 10001 --create-home footnote && mkdir --mode=700 /data && mkdir /run/footnote \
 && chown footnote /data /run/footnote
COPY --from=build /venv /venv
COPY --from=build --chown=footnote /models /models
ENV PATH=/venv/bin:$PATH FOOTNOTE_HOME=/data HTTP_HOST=0.0.0.0 HF_HOME=/models HF_HUB_OFFLINE=1 PYTHONUNBUFFERED=1
USER 10001
VOLUME /data
EXPOSE 8080
# Readiness: it fails while index and models open, and while a store or a platform is away. Nothing is restarted by it.
HEALTHCHECK --interval=15s --timeout=5s --start-period=300s --retries=4 \
  CMD ["python", "-c", "import os, urllib.request; urllib.request.urlopen(f\"http://127.0.0.1:{os.environ.get('HTTP_PORT') or 8080}/readyz\", timeout=4)"]
ENTRYPOINT ["footnote"]
CMD ["serve"]

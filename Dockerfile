# fetchd in a container. It is built with the official Swift image, and runs on Debian with five libraries, without Swift's.
#
#   docker build -t fetchd .
#   docker run -p 127.0.0.1:8080:8080 -e FETCHD_TOKEN=secret -v fetchd-data:/data -v fetchd-downloads:/downloads fetchd

FROM docker.io/library/swift:6.3-bookworm AS build

# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libcurl4-openssl-dev libmicrohttpd-dev libsqlite3-dev libssl-dev pkg-config zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /source
# Fetch the dependencies in a separate step, so that they are fetched again only when this file changes.
COPY Package.swift ./
RUN swift package resolve

COPY . .
# Link statically, so that the final image needs no Swift libraries.
RUN swift build -c release --product fetchd --static-swift-stdlib \
    && mkdir /staging \
    && cp "$(swift build -c release --product fetchd --static-swift-stdlib --show-bin-path)/fetchd" /staging/ \
    && strip /staging/fetchd


FROM docker.io/library/debian:bookworm-slim

# The health check uses curl.
# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates curl libcurl4 libmicrohttpd12 libsqlite3-0 libssl3 zlib1g \
    && rm -rf /var/lib/apt/lists/*

# A fixed user id, so that files in a volume have the same owner in every version of this image.
RUN groupadd --gid 10001 fetchd \
    && useradd --uid 10001 --gid fetchd --no-create-home --home-dir /data --shell /usr/sbin/nologin fetchd \
    && install -d -o fetchd -g fetchd -m 0700 /data \
    && install -d -o fetchd -g fetchd -m 0750 /downloads

COPY --from=build /staging/fetchd /usr/local/bin/fetchd

# This is not a loopback address, so fetchd refuses to start without FETCHD_TOKEN.
ENV FETCHD_LISTEN=0.0.0.0:8080 \
    FETCHD_DATA_DIR=/data \
    FETCHD_DOWNLOADS_DIR=/downloads

USER 10001:10001
WORKDIR /data
VOLUME ["/data", "/downloads"]
EXPOSE 8080

HEALTHCHECK --interval=10s --timeout=3s --start-period=10s --retries=3 \
    CMD ["curl", "-fsS", "-o", "/dev/null", "http://127.0.0.1:8080/readyz"]

ENTRYPOINT ["fetchd"]
CMD ["serve"]

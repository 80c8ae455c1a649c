# fetchd in a container: the program and its libraries, without a shell and without other programs. It is built with the
# official Swift image. docs/install.md explains its use.
#
#   docker build -t fetchd .
#   docker run -p 127.0.0.1:8080:8080 -e FETCHD_TOKEN=secret -v fetchd-data:/data -v fetchd-downloads:/downloads fetchd

FROM docker.io/library/swift:6.3-bookworm AS build

# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends libcurl4-openssl-dev libexpat1-dev libmicrohttpd-dev libpq-dev libsqlite3-dev libssl-dev pkg-config zlib1g-dev \
    && rm -rf /var/lib/apt/lists/*

WORKDIR /source
# Fetch the dependencies in a separate step, so that they are fetched again only when this file changes.
COPY Package.swift ./
RUN swift package resolve

COPY . .
# Link statically, so that the final image needs no Swift libraries.
RUN swift build -c release --product fetchd --static-swift-stdlib -Xlinker -z -Xlinker now \
    && mkdir /staging \
    && cp "$(swift build -c release --product fetchd --static-swift-stdlib -Xlinker -z -Xlinker now --show-bin-path)/fetchd" /staging/ \
    && strip /staging/fetchd


FROM docker.io/library/debian:bookworm-slim AS root

# hadolint ignore=DL3008
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates libcurl4 libexpat1 libmicrohttpd12 libpq5 libsqlite3-0 libssl3 libstdc++6 tzdata zlib1g \
    && rm -rf /var/lib/apt/lists/*
COPY packaging/image-root LICENSE /
COPY --from=build /staging/fetchd /usr/bin/fetchd
# The program, the libraries that it loads, certificates, time zones and licences.
RUN /image-root /image


FROM scratch

COPY --from=root /image/ /

# This is not a loopback address, so fetchd refuses to start without FETCHD_TOKEN.
ENV FETCHD_LISTEN=0.0.0.0:8080 \
    FETCHD_DATA_DIR=/data \
    FETCHD_DOWNLOADS_DIR=/downloads \
    HOME=/data

# A fixed user id, so that files in a volume have the same owner in every version of this image. `--user` chooses another.
USER 10001:10001
WORKDIR /data
VOLUME ["/data", "/downloads"]
EXPOSE 8080

HEALTHCHECK --interval=10s --timeout=6s --start-period=10s --retries=3 CMD ["fetchd", "health"]

ENTRYPOINT ["fetchd"]
CMD ["serve"]

# An image with `rewright` and the programs that it starts: `docker build -t rewright .`, then
# `docker run --rm -v "$PWD:/src" -w /src rewright check mine.rw`.
FROM rust:1.95-bookworm AS build
WORKDIR /rewright
COPY . .
RUN scripts/setup.sh && scripts/release.sh

FROM debian:bookworm-slim
COPY --from=build /rewright/target/release-files/rewright_*.deb /tmp/
RUN apt-get update \
    && DEBIAN_FRONTEND=noninteractive apt-get install -y /tmp/rewright_*.deb \
    && rm -rf /tmp/rewright_*.deb /var/lib/apt/lists/*
ENTRYPOINT ["rewright"]

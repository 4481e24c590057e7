# An image of Brunt: one static program and the certificates of authorities, no shell. Its user is 12345, as in k6's image.
#
#   docker build -t brunt .                                   compiles it, in some ten minutes
#   docker build -t brunt --build-context build=FOLDER .      takes FOLDER/out, made by `deploy/image/root PROGRAM FOLDER/out`
#   docker run --rm -i brunt run - <script.js
#
# The image for the k6-operator needs a shell: deploy/image/build makes it.
FROM docker.io/library/rust:1.95-bookworm AS build
RUN apt-get update \
    && apt-get install -y --no-install-recommends ca-certificates nodejs npm python3-venv
WORKDIR /src
COPY . .
RUN triple="$(uname -m)-unknown-linux-musl" \
    && tools/cross "$triple" build --profile dist --locked -p brunt-cli --bin brunt \
    && deploy/image/root "target/$triple/dist/brunt" /out

FROM scratch
COPY --from=build /out/ /
COPY --from=build --chown=12345:12345 /out/home/k6 /home/k6
ENV PATH=/usr/bin HOME=/home/k6
USER 12345
WORKDIR /home/k6
EXPOSE 6565
ENTRYPOINT ["brunt"]

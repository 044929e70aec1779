# hookproof as a command: `docker build -t registry.example/hookproof:0.1.0 .`, and then docs/continuous-integration.md.
# The tag of the base is for reading. Where builds have to be the same again, name its digest behind it in both places:
# node:22-bookworm-slim@sha256:... (`docker buildx imagetools inspect node:22-bookworm-slim` tells it).
# Slim and not distroless: the Kubernetes Job under docs/fleet and the runners of GitLab need a shell in the image.

FROM node:22-bookworm-slim AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Scripts of dependencies never run: the SQLite one brings its compiled files along.
RUN ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
COPY . .
RUN ["npm", "run", "build"]
# What runs, and nothing else: the compiled code and its production dependencies.
RUN ["npm", "prune", "--omit=dev", "--ignore-scripts", "--no-audit", "--no-fund"]
RUN mkdir -p /image/hookproof/bin /image/data \
  && cp -R dist node_modules package.json LICENSE README.md /image/hookproof/ \
  && mkdir /image/hookproof/scenarios \
  && cp -R scenarios/vectors scenarios/revisions scenarios/fault-dictionary.json scenarios/fault-texts.json \
       /image/hookproof/scenarios/ \
  && mkdir -p /image/hookproof/harness/report/html /image/hookproof/receiver/inspector \
  && cp harness/report/html/*.css harness/report/html/*.js /image/hookproof/harness/report/html/ \
  && cp -R receiver/inspector/page /image/hookproof/receiver/inspector/ \
  && ln -s ../dist/bin/hookproof.js /image/hookproof/bin/hookproof

FROM node:22-bookworm-slim
LABEL org.opencontainers.image.title="hookproof" \
  org.opencontainers.image.description="Conformance harness and reference receiver for signed webhooks." \
  org.opencontainers.image.version="0.1.0" \
  org.opencontainers.image.licenses="MIT"
ENV NODE_ENV=production
ENV PATH=/opt/hookproof/bin:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
# Belongs to root, so that the program cannot change itself. Nothing runs in this stage while it is built.
COPY --from=build /image/hookproof /opt/hookproof
COPY --from=build --chown=65532:65532 /image/data /data
# A number, so that `runAsNonRoot` can be checked without a file of users.
USER 65532:65532
# The one folder that is written to: mount a volume here, and the root may be read-only.
WORKDIR /data
# A command that ends has no health. For `hookproof receiver` let the platform ask /healthz and /readyz (--admin-port).
HEALTHCHECK NONE
ENTRYPOINT ["hookproof"]
CMD ["--help"]

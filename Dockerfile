# hookproof as a command: `docker build -t registry.example/hookproof:0.1.0 .`, and then docs/continuous-integration.md.
# The tag of the base is for reading. Where builds have to be the same again, give its digest:
# `--build-arg BASE=node:22-bookworm-slim@sha256:...` (`docker buildx imagetools inspect node:22-bookworm-slim` prints
# it). Another base needs Node 22 with npm, certificates of CAs, and a shell for the Kubernetes Jobs under docs/fleet
# and the runners of GitLab: slim, and not distroless.

ARG BASE=node:22-bookworm-slim
FROM $BASE AS build
WORKDIR /build
COPY package.json package-lock.json .npmrc ./
# Scripts of dependencies never run.
RUN ["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"]
COPY . .
RUN ["npm", "run", "build"]
# What runs, and nothing else: the package, its dependencies, and the optional packages, all in the versions of the lock
# file. Node 22 has SQLite itself, and TypeScript is a peer of a dependency that runs without it: npm removes both
# (60 MB) with --legacy-peer-deps.
RUN mkdir -p /image/hookproof/bin /image/data \
  && npm pack --ignore-scripts \
  && tar -xzf hookproof-*.tgz -C /image/hookproof --strip-components=1 \
  && npm pkg delete devDependencies \
  && npm pkg set dependencies.graphile-worker=0.16 dependencies.pg=8 dependencies.prom-client=15 dependencies.pino=10 \
  && npm prune --legacy-peer-deps --ignore-scripts --no-audit --no-fund \
  && mv node_modules /image/hookproof/ \
  && ln -s ../dist/bin/hookproof.js /image/hookproof/bin/hookproof

FROM $BASE
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
# No HEALTHCHECK: a command that ends has no health. For `hookproof receiver` let the platform ask /healthz and /readyz
# (--admin-port).
ENTRYPOINT ["hookproof"]
CMD ["--help"]

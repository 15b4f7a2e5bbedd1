# syntax=docker/dockerfile:1
# Node and the embedded PostgreSQL both want glibc, so every stage is Debian.

FROM node:22-bookworm-slim AS build
WORKDIR /app
COPY package.json package-lock.json ./
COPY sdk/typescript/package.json sdk/typescript/
RUN npm ci --no-audit --no-fund
COPY tsconfig.json tsconfig.build.json tsconfig.migrations.json tsconfig.examples.json nest-cli.json ./
COPY scripts scripts
COPY sdk/typescript sdk/typescript
COPY migrations migrations
COPY examples examples
COPY src src
COPY test/torture test/torture
COPY test/support test/support
COPY web web
RUN npm run build

FROM node:22-bookworm-slim AS dependencies
WORKDIR /app
COPY package.json package-lock.json ./
COPY sdk/typescript/package.json sdk/typescript/
RUN npm ci --omit=dev --no-audit --no-fund && npm cache clean --force

FROM node:22-bookworm-slim
ENV NODE_ENV=production REACH_LOG_FORMAT=json REACH_DATA_DIR=/var/lib/reach
WORKDIR /app
RUN mkdir -p /var/lib/reach && chown node:node /var/lib/reach
COPY --from=dependencies /app/node_modules node_modules
COPY --from=build /app/dist dist
COPY --from=build /app/sdk/typescript/package.json sdk/typescript/package.json
COPY --from=build /app/sdk/typescript/dist sdk/typescript/dist
COPY package.json ./
USER node
VOLUME /var/lib/reach
EXPOSE 8080
HEALTHCHECK --interval=10s --timeout=3s --start-period=30s \
  CMD ["node", "-e", "fetch('http://127.0.0.1:'+(process.env.REACH_HTTP_PORT||8080)+'/readyz').then(r=>process.exit(r.ok?0:1),()=>process.exit(1))"]
# node itself is PID 1, in exec form: signals arrive, and the server handles SIGTERM and SIGINT itself.
STOPSIGNAL SIGTERM
CMD ["node", "--enable-source-maps", "dist/main.js"]

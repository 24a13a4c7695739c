import { mkdtempSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { defineConfig } from 'vitest/config'
import { ServersReporter } from './test/servers/reporter.ts'

const rows = join(mkdtempSync(join(tmpdir(), 'skillrail-server-rows-')), 'rows.jsonl')

/** Real MCP servers, a real browser and a real database: npm run test:servers. */
export default defineConfig({
  test: {
    include: ['test/servers/*.suite.ts'],
    globalSetup: ['test/own-temporary-directory.ts', 'test/servers/setup.ts'],
    reporters: ['default', new ServersReporter(rows)],
    testTimeout: 60_000,
    hookTimeout: 120_000,
    fileParallelism: false,
    env: { NO_COLOR: '1', SKILLRAIL_SERVER_ROWS: rows },
  },
})

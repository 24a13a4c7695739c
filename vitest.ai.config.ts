import { join } from 'node:path'
import { defineConfig } from 'vitest/config'

const folder = process.env['SKILLRAIL_AI'] ?? '.'
const ai = join(folder, 'node_modules/ai/dist')

/** The tests of skillrail/ai with another version of the AI SDK: npm run test:ai. */
export default defineConfig({
  resolve: {
    alias: [
      { find: /^ai$/, replacement: join(ai, 'index.js') },
      { find: /^ai\/test$/, replacement: join(ai, 'test/index.js') },
    ],
  },
  test: {
    include: ['test/agent/ai/*.test.ts'],
    exclude: ['test/agent/ai/not-installed.test.ts'],
    globalSetup: ['test/own-temporary-directory.ts'],
    testTimeout: 60_000,
    env: { NO_COLOR: '1' },
  },
})

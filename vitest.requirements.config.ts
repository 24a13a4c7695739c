import { globSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { defineConfig, type Plugin } from 'vitest/config'
import { rowId } from './scripts/prd-rows.mjs'
import { rowName, RowsReporter } from './test/package/rows-reporter.ts'

const sources = `${join(import.meta.dirname, 'src')}/`

/** Whatever a test imports from `src/` are the public names of the installed package, and no others. */
const fromThePackage: Plugin = {
  name: 'from-the-package',
  enforce: 'pre',
  resolveId(source, importer = '') {
    const isSource =
      source.startsWith('.') && resolve(dirname(importer), source).startsWith(sources)
    return isSource ? '\0skillrail' : undefined
  },
  load(id) {
    if (id !== '\0skillrail') return undefined
    const entries = join(process.env['SKILLRAIL_PACKED'] ?? '', 'dist/entries')
    return ['index', 'agent', 'ai', 'testing']
      .map((name) => `export * from ${JSON.stringify(join(entries, `${name}.js`))}`)
      .join('\n')
  },
}

const row = new RegExp(`['"\`]${rowId}`)

/** Every row of the requirements from outside, on the packed package: npm run test:requirements. */
export default defineConfig({
  plugins: [fromThePackage],
  test: {
    include: globSync('test/**/*.{test,crash}.ts').filter((file) =>
      row.test(readFileSync(file, 'utf8')),
    ),
    testNamePattern: rowName,
    globalSetup: ['test/own-temporary-directory.ts', 'test/built.ts', 'test/package/setup.ts'],
    reporters: ['default', new RowsReporter()],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    isolate: false,
    env: { NO_COLOR: '1' },
  },
})

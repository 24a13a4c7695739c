import { randomInt } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { defineConfig, type Plugin, type TestProjectConfiguration } from 'vitest/config'
import type { Reporter } from 'vitest/node'
import { mutationAreas } from './test/mutation-areas.ts'
import { RowsReporter } from './test/requirements/reporter.ts'
import { filesWithRows, titlesWithRows } from './test/requirements/titles.ts'
import { ServersReporter } from './test/servers/reporter.ts'

// `vitest run` executes the tests that need nothing but Node. Every other suite is a project that is
// named: `vitest run --project crash`.

type TestOptions = Exclude<TestProjectConfiguration, string | Promise<unknown>> & object

interface Suite {
  include: readonly string[]
  exclude?: readonly string[]
  /** Default: the temporary directory of the run, and a build where the sources are newer. */
  globalSetup?: readonly string[]
  /** Milliseconds for each test; default: a minute, which no test comes near. */
  testTimeout?: number
  hookTimeout?: number
  env?: Readonly<Record<string, string>>
  /** Whether each test file gets a module graph of its own; default: yes. */
  isolate?: boolean
  /** One test file after the other, because each uses the whole machine. */
  serial?: true
  /** How many test files run at a time where they wait for programs most of the time. */
  workers?: number
  /** Real clients and servers stumble now and then: a test that fails twice has failed. */
  retry?: 1
  reporters?: () => Reporter[]
  testNamePattern?: RegExp
  plugins?: Plugin[]
  alias?: { find: RegExp; replacement: string }[]
}

const temporaryDirectory = 'test/own-temporary-directory.ts'
const built = 'test/built.ts'

/** It replaces a module for the whole worker, so it gets a worker of its own. */
const replacingModules = ['test/trust/removed-while-read.test.ts']

const sources = `${join(import.meta.dirname, 'src')}/`

/** Imports from `src/` become the public names of the installed package, and no others. */
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

function serversSuite(): Suite {
  const rows = join(mkdtempSync(join(tmpdir(), 'skillrail-server-rows-')), 'rows.jsonl')
  return {
    include: ['test/servers/*.suite.ts'],
    globalSetup: [temporaryDirectory, 'test/servers/setup.ts'],
    hookTimeout: 120_000,
    retry: 1,
    env: { SKILLRAIL_SERVER_ROWS: rows },
    reporters: () => [new ServersReporter(rows)],
  }
}

function aiSuite(): Suite {
  const folder = process.env['SKILLRAIL_AI'] ?? '.'
  const ai = join(folder, 'node_modules/ai/dist')
  return {
    include: ['test/agent/ai/*.test.ts'],
    exclude: ['test/agent/ai/not-installed.test.ts'],
    globalSetup: [temporaryDirectory],
    alias: [
      { find: /^ai$/, replacement: join(ai, 'index.js') },
      { find: /^ai\/test$/, replacement: join(ai, 'test/index.js') },
    ],
  }
}

/** Suites without `--project`. */
const unitSuites: Record<string, () => Suite> = {
  shared: () => ({
    include: ['test/**/*.test.ts'],
    exclude: replacingModules,
    isolate: false,
  }),
  own: () => ({ include: replacingModules }),
}

const otherSuites: Record<string, () => Suite> = {
  /** Another version of the AI SDK: npm run test:ai. */
  ai: aiSuite,
  /** Real agent clients: a part of npm run test:clients. */
  clients: () => ({
    include: ['test/clients/*.suite.ts'],
    exclude: ['test/clients/rail.suite.ts'],
    workers: 1 + availableParallelism(),
    testTimeout: 300_000,
    hookTimeout: 300_000,
    retry: 1,
  }),
  /** Models that do not follow the procedure, in real agent clients: npm run test:rails. */
  rails: () => ({
    include: ['test/clients/rail.suite.ts'],
    testTimeout: 300_000,
    hookTimeout: 300_000,
    retry: 1,
  }),
  /** Starts and kills many processes, or lets many write at once. */
  crash: () => ({
    include: ['test/**/*.crash.ts'],
    testTimeout: 120_000,
    serial: true,
    env: { SKILLRAIL_TEST_KILLS: process.env['SKILLRAIL_TEST_KILLS'] ?? '10' },
  }),
  /** Starts many real processes: MCP servers, Git, rails, clients, terminals, the installed package. */
  processes: () => ({
    include: ['test/**/*.processes.ts'],
    testTimeout: 180_000,
    isolate: false,
  }),
  /** Processor time that must grow like the input; other tests beside them would disturb it. */
  growth: () => ({
    include: ['test/**/*.growth.ts'],
    globalSetup: [temporaryDirectory],
    serial: true,
  }),
  /** The tests of one area, started by npm run mutation. */
  mutation: () => ({
    include: mutationAreas[process.env['SKILLRAIL_MUTATION_AREA'] ?? '']?.tests ?? [],
    globalSetup: [temporaryDirectory],
    testTimeout: 20_000,
    env: { SKILLRAIL_TEST_SOURCES: '1' },
  }),
  /** Every row of the requirements from outside, on the packed package. */
  requirements: () => ({
    include: filesWithRows(),
    globalSetup: [temporaryDirectory, built, 'test/requirements/packed.ts'],
    testTimeout: 120_000,
    hookTimeout: 120_000,
    isolate: false,
    plugins: [fromThePackage],
    reporters: () => [new RowsReporter()],
    testNamePattern: titlesWithRows(),
  }),
  /** A real Restate server with real workers. */
  restate: () => ({
    include: ['test/restate/*.suite.ts'],
    testTimeout: 120_000,
    hookTimeout: 300_000,
    serial: true,
    retry: 1,
  }),
  /** Attempts to leave a real sandbox; needs bubblewrap. */
  sandbox: () => ({ include: ['test/sandbox/*.suite.ts'], testTimeout: 120_000, serial: true }),
  /** Real MCP servers, a real browser and a real database. */
  servers: serversSuite,
  /** The exported script and the completion under the shells of this machine. */
  shells: () => ({
    include: ['test/trigger/*.suite.ts', 'test/cli/*.suite.ts'],
    globalSetup: [temporaryDirectory],
    testTimeout: 20_000,
  }),
}

const suites = selectedSuites()
const seed = seedOfRandomTests()
const pattern = suites.find(({ suite }) => suite.testNamePattern)?.suite.testNamePattern

export default defineConfig({
  test: {
    // Most tests wait for processes: on two cores two workers leave a third of them idle.
    maxWorkers: suites.some(({ suite }) => suite.serial)
      ? 1
      : Math.max(3, availableParallelism() - 1, ...suites.map(({ suite }) => suite.workers ?? 0)),
    coverage: { include: ['src/**/*.ts'] },
    reporters: ['default', ...suites.flatMap(({ suite }) => suite.reporters?.() ?? [])],
    ...(pattern && { testNamePattern: pattern }),
    projects: suites.map(({ name, suite }) => projectOf(name, suite)),
  },
})

/** The same in every run, unless `SKILLRAIL_TEST_SEED` is a number, or `random` for a new one. */
function seedOfRandomTests(): string {
  const asked = process.env['SKILLRAIL_TEST_SEED'] ?? '1'
  if (asked !== 'random' && !/^\d+$/.test(asked)) {
    throw new Error(`SKILLRAIL_TEST_SEED is ${asked}, which is neither a number nor "random"`)
  }
  if (asked === '1') return asked
  const chosen = asked === 'random' ? String(randomInt(2 ** 31)) : asked
  process.stderr.write(`Random tests use another seed: SKILLRAIL_TEST_SEED=${chosen}\n`)
  return chosen
}

/** The suites that `--project` names, and the unit tests without it. */
function selectedSuites(): { name: string; suite: Suite }[] {
  const names = process.argv.flatMap((word, index) => {
    if (word.startsWith('--project=')) return [word.slice('--project='.length)]
    return word === '--project' ? [process.argv[index + 1] ?? ''] : []
  })
  // Stryker starts the test runner without arguments.
  if (process.env['SKILLRAIL_MUTATION_AREA'] !== undefined) names.push('mutation')
  const table = names.length === 0 ? unitSuites : { ...unitSuites, ...otherSuites }
  return Object.entries(table)
    .filter(([name]) => names.length === 0 || names.includes(name))
    .map(([name, suite]) => ({ name, suite: suite() }))
}

function projectOf(name: string, suite: Suite): TestOptions {
  return {
    extends: true,
    plugins: suite.plugins ?? [],
    resolve: { alias: suite.alias ?? [] },
    test: {
      name,
      setupFiles: ['test/fixed-seed.ts'],
      include: [...suite.include],
      exclude: [...(suite.exclude ?? [])],
      globalSetup: [...(suite.globalSetup ?? [temporaryDirectory, built])],
      testTimeout: suite.testTimeout ?? 60_000,
      hookTimeout: suite.hookTimeout ?? 60_000,
      isolate: suite.isolate ?? true,
      retry: suite.retry ?? 0,
      env: { NO_COLOR: '1', SKILLRAIL_TEST_SEED: seed, ...suite.env },
    },
  }
}

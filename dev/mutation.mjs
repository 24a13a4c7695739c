/**
 * Mutation tests of the parts that decide what may happen: each change of their code that no test
 * notices is a survivor. Writes the scores and the survivors of each area into a folder.
 *
 *   npm run mutation [AREA ...] [FILE ...]
 *
 * All areas (trust, chain, trigger, gate, arguments) or those named; of their files all or those named.
 * Ends with 1 where a score is below 85 %, with 2 for an unknown area. Stryker comes from a cache of
 * its own, since nothing else needs it; without it the script says so and ends with 0.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { availableParallelism } from 'node:os'
import path from 'node:path'
import { cachedPackages } from './cached-packages.mjs'
import { mutationAreas } from '../test/mutation-areas.ts'

const root = path.resolve(import.meta.dirname, '..')
const results = path.join(root, 'coverage/mutation')
const version = '10.1.1'
/** Percent of the mutants of an area that a test must notice. */
const least = 85

const given = process.argv.slice(2)
const onlyFiles = given.filter((word) => word.includes('/'))
const asked = given.filter((word) => !word.includes('/'))
const unknown = asked.filter((name) => !Object.hasOwn(mutationAreas, name))
if (unknown.length > 0) {
  console.error(
    `unknown: ${unknown.join(', ')}; the areas are ${Object.keys(mutationAreas).join(', ')}`,
  )
  process.exit(2)
}
const folder = cachedPackages('mutation', {
  '@stryker-mutator/core': version,
  '@stryker-mutator/vitest-runner': version,
})
if (folder === undefined) {
  console.log('skipped: mutation testing needs Stryker')
  process.exit(0)
}
shareVitest(folder)
mkdirSync(results, { recursive: true })
const scores = (asked.length > 0 ? asked : Object.keys(mutationAreas)).map((name) => test(name))
for (const { name, text, survivors } of scores) {
  console.log(`${name.padEnd(10)} ${text}`)
  for (const survivor of survivors) console.log(`  ${survivor}`)
}
process.exitCode = scores.every(({ score }) => score >= least) ? 0 : 1

/** The tests and their runner must be of one installation. */
function shareVitest(into) {
  const link = path.join(into, 'node_modules/vitest')
  if (!existsSync(link)) symlinkSync(path.join(root, 'node_modules/vitest'), link)
}

function test(name) {
  const report = path.join(results, `${name}.json`)
  const config = path.join(results, `${name}.config.json`)
  writeFileSync(config, JSON.stringify(configuration(name, report)))
  const resolver = createRequire(path.join(folder, 'package.json'))
  const stryker = path.join(
    path.dirname(resolver.resolve('@stryker-mutator/core/package.json')),
    'bin/stryker.js',
  )
  const { status } = spawnSync(process.execPath, [stryker, 'run', config], {
    cwd: root,
    stdio: ['ignore', 'inherit', 'inherit'],
    env: { ...process.env, SKILLRAIL_MUTATION_AREA: name },
  })
  if (status !== 0) return { name, score: 0, text: 'did not run to its end', survivors: [] }
  return summary(name, JSON.parse(readFileSync(report, 'utf8')))
}

function configuration(name, report) {
  return {
    mutate: onlyFiles.length > 0 ? onlyFiles : mutationAreas[name].sources,
    testRunner: 'vitest',
    plugins: [path.join(folder, 'node_modules/@stryker-mutator/vitest-runner/dist/src/index.js')],
    vitest: { configFile: 'vitest.config.ts', related: false },
    coverageAnalysis: 'perTest',
    // A mutant of a constant needs a run of all tests each; tables of texts would fill hours.
    ignoreStatic: true,
    concurrency: availableParallelism(),
    reporters: ['progress-append-only', 'json'],
    jsonReporter: { fileName: report },
    tempDirName: path.join(results, 'sandbox'),
    // The copies that other runs work in, and what no test reads.
    ignorePatterns: ['coverage'],
    disableTypeChecks: false,
    // Its reader needs the interface of a compiler that we do not use.
    tsconfigFile: 'none.json',
  }
}

function summary(name, { files }) {
  const mutants = Object.entries(files).flatMap(([file, { mutants: all, source }]) =>
    all.map((mutant) => ({
      ...mutant,
      file,
      line: source.split('\n')[mutant.location.start.line - 1],
    })),
  )
  const count = (...states) => mutants.filter(({ status }) => states.includes(status)).length
  const caught = count('Killed', 'Timeout')
  const missed = count('Survived', 'NoCoverage')
  const score = (100 * caught) / (caught + missed)
  const survivors = mutants
    .filter(({ status }) => status === 'Survived' || status === 'NoCoverage')
    .map(({ file, location, mutatorName, replacement, status }) => {
      const place = `${file}:${location.start.line}:${location.start.column}`
      return `${status === 'Survived' ? 'survived' : 'no test '} ${place} ${mutatorName} → ${String(replacement).replaceAll(/\s+/g, ' ').slice(0, 70)}`
    })
  return {
    name,
    score,
    survivors,
    text: `${score.toFixed(1)} %: ${caught} of ${caught + missed} mutants noticed`,
  }
}

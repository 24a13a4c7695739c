// Measures the router against tuned BM25 on sets for tool retrieval, both with the same scoring and
// in one run. SKILLRAIL_BENCH is the folder of the sets (default ../shared/bench), SETS a pattern of
// set names.
import { existsSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'
import { indexDefinitions } from '../../src/tools/cache/tool-index.ts'
import { prepareRouter } from '../../src/tools/route/router.ts'
import { definitionsOf, readSets } from './_router-sets.mjs'
import { foldsOf, mean, pairedDifference } from './_statistics.mjs'

const root = path.resolve(import.meta.dirname, '../..')
const given = path.join(root, '../shared/bench')
const data = path.resolve(process.env.SKILLRAIL_BENCH ?? given)
const baselineFile = [data, given]
  .map((folder) => path.join(folder, 'baseline-bm25.mjs'))
  .find((file) => existsSync(file))

if (!existsSync(data) || baselineFile === undefined) {
  console.log('skipped: no sets for tool retrieval (SKILLRAIL_BENCH)')
  process.exit(0)
}
const { build, evalRank } = await import(pathToFileURL(baselineFile).href)
const measures = ['R@1', 'R@3', 'R@5', 'R@10', 'NDCG@10', 'MRR']
/** With fewer queries a tool there are too few for examples. */
const queriesPerTool = 5
const maxExamples = 10
const folds = 10

const sets = readSets(data, new RegExp(process.env.SETS ?? '.')).map((set) => ({
  ...set,
  index: indexDefinitions(definitionsOf(set.tools)),
  places: new Map(set.tools.map(({ toolId }, at) => [toolId, at])),
}))

const compared = []
const decided = []
for (const set of sets) {
  const router = prepareRouter(set.index.tools)
  const base = measure(set, build(set.tools.map(tunedFields), { stop: 1, stem: 1 }))
  compare(set, 'tuned BM25', base)
  const routes = set.queries.map(({ query }) => router.route(query, { limit: 10 }))
  compare(set, 'router', measureRoutes(set, routes), base)
  decided.push({ set, system: 'router', routes })
  if (set.queries.length >= queriesPerTool * set.tools.length) {
    for (const most of [maxExamples, Infinity]) {
      const system = `${most === Infinity ? 'all' : most} examples`
      const taught = routesWithExamples(set, most)
      compare(set, `router, ${system}`, measureRoutes(set, taught), base)
      decided.push({ set, system, routes: taught })
    }
  }
}
printComparison()
printDecisions()
printTimes()

/** The baseline's best fields: name, description, parameters, server. */
function tunedFields({ name, description, params, server }) {
  return [
    [name, 3],
    [description, 1],
    [(params ?? []).join(' '), 0.5],
    [server ?? '', 1.5],
  ]
}

/** Each query's values, by the baseline's own scoring. */
function measure(set, score) {
  return set.queries.map((query, at) => evalRank(set.tools, [query], () => score(query.query, at)))
}

function measureRoutes(set, routes) {
  return measure(set, (_, at) => {
    const scores = new Float64Array(set.tools.length)
    // Places, not scores: two that are equal after rounding keep their order.
    routes[at].candidates.forEach(({ tool }, place) => (scores[set.places.get(tool)] = 100 - place))
    return scores
  })
}

/** Every fold is routed with what the other folds teach, at most so many requests a tool. */
function routesWithExamples(set, most) {
  const { folds: foldOf, order } = foldsOf(set.queries.length, folds)
  const routes = []
  for (let fold = 0; fold < folds; fold++) {
    const taught = new Map()
    for (const at of order) {
      const { query, gold } = set.queries[at]
      const examples = taught.get(gold[0]) ?? []
      if (foldOf[at] === fold || examples.length >= most) continue
      taught.set(gold[0], [...examples, query])
    }
    const router = prepareRouter(
      set.index.tools.map((tool) => ({ ...tool, examples: taught.get(tool.id) })),
    )
    set.queries.forEach(({ query }, at) => {
      if (foldOf[at] === fold) routes[at] = router.route(query, { limit: 10 })
    })
  }
  return routes
}

function compare(set, system, values, base) {
  compared.push({ set, system, values, base })
}

function printComparison() {
  console.log('Recall, % of the right tools found; in brackets the 95 % interval of the difference')
  const rows = compared.map(({ set, system, values, base }) => [
    base === undefined ? set.name : '',
    base === undefined ? `${set.queries.length} / ${set.tools.length}` : '',
    system,
    ...measures.map((key) => mean(values.map((value) => value[key])).toFixed(1)),
    ...['R@1', 'R@5'].map((key) => (base === undefined ? '' : differenceText(values, base, key))),
  ])
  printTable([
    ['set', 'queries / tools', 'system', ...measures, 'R@1 to BM25', 'R@5 to BM25'],
    ...rows,
  ])
}

function differenceText(values, base, key) {
  const ours = values.map((value) => value[key])
  const {
    mean: middle,
    low,
    high,
  } = pairedDifference(
    ours,
    base.map((value) => value[key]),
  )
  return `${signed(middle)} [${signed(low)}, ${signed(high)}]`
}

function printDecisions() {
  console.log(
    '\nAnswers given without asking: how many of the requests get one, and how many are right',
  )
  const rows = decided.map(({ set, system, routes }) => {
    const right = (at) => set.queries[at].gold.includes(routes[at].candidates[0]?.tool)
    const kinds = Map.groupBy(routes.keys(), (at) => routes[at].decision)
    const answers = [...(kinds.get('answer') ?? [])]
    const ranked = [...routes.keys()].toSorted((a, b) => lead(routes[b]) - lead(routes[a]))
    const precisionAt = (part) => {
      const taken = ranked.slice(0, Math.round(ranked.length * part))
      return percent(taken.filter(right).length, taken.length)
    }
    return [
      set.name,
      system,
      percent(answers.length, routes.length),
      percent(answers.filter(right).length, answers.length),
      percent((kinds.get('ask') ?? []).length, routes.length),
      precisionAt(0.24),
      precisionAt(0.4),
    ]
  })
  printTable([
    ['set', 'system', 'answered', 'right', 'asked back', 'right at 24 %', 'right at 40 %'],
    ...rows,
  ])
}

/** The measure that decisions are made by. */
function lead({ probability }) {
  return probability
}

function printTimes() {
  const tools = [
    ...new Map(sets.flatMap(({ index }) => index.tools).map((tool) => [tool.id, tool])),
  ]
    .map(([, tool]) => tool)
    .slice(0, 500)
  const requests = sets.flatMap(({ queries }) => queries.slice(0, 200)).map(({ query }) => query)
  const start = performance.now()
  const router = prepareRouter(tools)
  const firstPrepared = performance.now()
  const [request] = requests
  if (request === undefined) return
  router.route(request)
  const firstRouted = performance.now()
  const times = requests
    .map((text) => {
      const begun = performance.now()
      router.route(text)
      return performance.now() - begun
    })
    .toSorted((a, b) => a - b)
  const at = (part) => times[Math.min(times.length - 1, Math.floor(times.length * part))].toFixed(2)
  const again = performance.now()
  prepareRouter(tools)
  console.log(
    `\n${tools.length} tools: prepared in ${(firstPrepared - start).toFixed(1)} ms, again in ${(performance.now() - again).toFixed(1)} ms; a route takes ${at(0.5)} ms (median), ${at(0.99)} ms (99 of 100); the first ${(firstRouted - firstPrepared).toFixed(1)} ms`,
  )
}

function percent(part, whole) {
  return whole === 0 ? '-' : ((100 * part) / whole).toFixed(1)
}

function signed(value) {
  return `${value < 0 ? '-' : '+'}${Math.abs(value).toFixed(1)}`
}

function printTable(rows) {
  const widths = rows[0].map((_, column) => Math.max(...rows.map((row) => row[column].length)))
  for (const row of rows) {
    console.log(
      row
        .map((cell, column) => cell.padEnd(widths[column]))
        .join('  ')
        .trimEnd(),
    )
  }
}

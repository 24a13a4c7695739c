// Makes dist/ from src/. The compiler checks and writes the declarations; the bundler joins the many
// small modules, because loading each from a file of its own would cost every start 100 ms. The
// library is ESM; the command line and the hook are CommonJS, which Node starts faster.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, rmSync } from 'node:fs'
import { rolldown } from 'rolldown'
import { viewPage } from './view-page.mjs'

rmSync('dist', { recursive: true, force: true })
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
})
await bundle(
  {
    index: 'src/index.ts',
    'agent/index': 'src/agent/index.ts',
    'tools/index': 'src/tools/index.ts',
    'testing/index': 'src/testing/index.ts',
    'hooks/index': 'src/hooks/index.ts',
  },
  { dir: 'dist', format: 'esm', chunkFileNames: 'shared/[name].js' },
)
await bundle(
  { bin: 'src/cli/bin.ts' },
  {
    dir: 'dist/cli',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
    codeSplitting: { includeDependenciesRecursively: false, groups: loadedTogether() },
  },
  {
    ...withPlugins(commanderInside(), await pageInside()),
    preserveEntrySignatures: 'allow-extension',
    // A room's index then brings a command only those files of the room that it uses.
    treeshake: { moduleSideEffects: (id) => /cli\/bin\.ts$|\/commander\//.test(id) },
  },
)
chmodSync('dist/cli/bin.cjs', 0o755)
copyFileSync('node_modules/commander/LICENSE', 'dist/cli/LICENSE-commander')
await bundleHook()

async function bundle(input, output, options = {}) {
  const external = (name) => !/^[./]/.test(name)
  const build = await rolldown({ input, platform: 'node', external, ...options })
  const { output: written } = await build.write(output)
  await build.close()
  refuseCircles(written)
}

/**
 * Files that load each other find the other one half done. Modules grouped by hand make such circles
 * where there was none; the group then lacks a module.
 *
 * @param {readonly { fileName: string, imports?: readonly string[] }[]} files
 */
function refuseCircles(files) {
  const imports = new Map(files.map((file) => [file.fileName, file.imports ?? []]))
  const done = new Set()
  const visit = (name, way) => {
    if (way.includes(name)) {
      throw new Error(`files of dist load each other: ${[...way, name].join(' > ')}`)
    }
    if (done.has(name)) return
    for (const next of imports.get(name) ?? []) visit(next, [...way, name])
    done.add(name)
  }
  for (const name of imports.keys()) visit(name, [])
}

/**
 * A file more costs every start a third of a millisecond. What every command needs is one file; so is
 * what reads a skill, what finds skills and their trust, what plans a chain, what runs one, and what
 * routes a request, which is done for every prompt. A module that is missing here becomes a file of
 * its own.
 */
function loadedTogether() {
  const groups = {
    main: [
      /\/src\/base\/(?!sarif|journal)/,
      /\/src\/trust\/(?:workspace|_real-path)\.ts$/,
      /\/src\/cli\/(?:command-table\/.+|main|commands?|help|interrupt|sink|failure|output|version)\.ts$/,
      /\/src\/cli\/(?:_cells|_compiled-code|_contradiction|_file-error|_input-text|_option-number|_terminal|_tool-project)\.ts$/,
    ],
    reading: [
      /\/src\/skill\/(?:fast-yaml|yaml-library)\//,
      /\/src\/skill\/_(?:argument-syntax|rules-(?:fields|reference|format)|(?:format-)?finding)\.ts$/,
      /\/src\/skill\/_(?:field-(?:values|chain|triggers|hooks)|yaml-limits|core-schema)\.ts$/,
      /\/src\/skill\/(?:allowed-tools|errors|fields?|field-table|frontmatter|parse|read-yaml)\.ts$/,
      /\/src\/skill\/(?:references|tokens)\.ts$/,
      /\/src\/library\/(?:_real-path|_sort-text|list-skill-files|_listing|walk)\.ts$/,
    ],
    finding: [
      /\/src\/trust\/(?:_agent-files|_code-files|_entry-stats|_field-parts|_file-digest|_hints)\.ts$/,
      /\/src\/trust\/(?:_json-offset|_kept-texts|_link|_lock-text|_project-json|_relative)\.ts$/,
      /\/src\/trust\/_(?:skill-files|skill-tree|trust-file|workspace-files)\.ts$/,
      /\/src\/trust\/(?:agent-places|assess|collect|decide|errors|lock|policy|skill-trust|store)\.ts$/,
      /\/src\/library\/_(?:decode|fields-codec|index-columns|metadata|no-fields|read-)/,
      /\/src\/library\/_(?:same-content|skill-name)\.ts$/,
      /\/src\/library\/(?:discover|find-skill|load-skill|location-index|locations|resolve-names)\.ts$/,
      /\/src\/library\/(?:scan-location|select-skill|self-reference|settings-options)\.ts$/,
      /\/src\/cli\/_list-answer\.ts$/,
    ],
    planning: [
      /\/src\/base\/journal-file\.ts$/,
      /\/src\/exec\/(?:agent-clis|find-script|interpreter-for)\.ts$/,
      /\/src\/chain\/(?:_plan-steps|_record-shape|_remove-tree|check-policy|disk-lookup|errors|journal-records|plan)\.ts$/,
      /\/src\/chain\/(?:plan-model|plan-words|policy-table|render-plan|render-plan-mermaid|resolve|sandbox-words)\.ts$/,
      /\/src\/chain\/(?:run-journal|run-store|select|skill-digest|trust-check)\.ts$/,
      /\/src\/cli\/_(?:agent-options|chain-project|collect|instructions|plan-answer|run-row|step-choice|via)\.ts$/,
    ],
    running: [
      /\/src\/exec\/sandbox\//,
      /\/src\/exec\/_(?:descriptors|end-with-us|last-complaint|launcher-|output-block|plain-value|process-group|start-failure|supervision)/,
      /\/src\/exec\/(?:capture|environment|launcher|model|orphans|output-protocol|process|script|what-is-missing)\.ts$/,
      /\/src\/chain\/_(?:clean-up|confinement-record|halt|journal-launch|outcome|pass-gate|time-limit|with-journal)\.ts$/,
      /\/src\/chain\/(?:attempt|cancel-run|driven-executor|gates|interpreter|journal-engine)\.ts$/,
      /\/src\/chain\/(?:plan-changed|policy|record-writer|result|reuse|run-arguments|run-chain|run-line)\.ts$/,
      /\/src\/chain\/(?:script-executor|state|step-files|step-runner|step-time|stepper|timeline|walk-result|while-running)\.ts$/,
      /\/src\/chain\/report\//,
      /\/src\/cli\/_(?:confinement|engine|event-file|execute-run|named-file|progress|lines-again|report-format|require-writable)\.ts$/,
      /\/src\/cli\/_run-(?:answer|reports|settings)\.ts$/,
    ],
    routing: [
      /\/src\/tools\/parameters\//,
      /\/src\/tools\/route\/(?!meaning|[a-z]+-embedding)/,
      /\/src\/tools\/call\/(?:_json|decide-request|fitting-candidate|json-in-text|named-in-words)\.ts$/,
      /\/src\/tools\/call\/(?:propose|resolve-tool|written-names)\.ts$/,
      /\/src\/tools\/category\/(?:canonical|catalogue)\.ts$/,
      /\/src\/tools\/cache\/(?:_cache-parts|cache-model|load|places|read-cache|reads-only|record)\.ts$/,
      /\/src\/tools\/cache\/(?:sidecar|staleness|tool-id|tool-index|tool-summary)\.ts$/,
      /\/src\/workflow\/answer-json\.ts$/,
    ],
  }
  return Object.entries(groups).map(([name, patterns]) => ({
    name,
    test: (id) => patterns.some((pattern) => pattern.test(id)),
  }))
}

/**
 * commander loads `node:child_process` for commands in files of their own, which are not used here:
 * a fifth of the start of a command. It is joined to the command line so that this can wait.
 */
function commanderInside() {
  const id = '\0lazy-child-process'
  const isForCommander = (name, importer) =>
    name === 'node:child_process' && importer?.includes('/commander/') === true
  const plugin = {
    name: 'lazy-child-process',
    resolveId: (name, importer) => (isForCommander(name, importer) ? id : undefined),
    load: (name) =>
      name === id
        ? `exports.spawn = (...given) => process.getBuiltinModule('node:child_process').spawn(...given)`
        : undefined,
  }
  return {
    plugins: [plugin],
    external: (name, importer) =>
      !/^[./\0]|^commander$/.test(name) && !isForCommander(name, importer),
  }
}

/** The page of the local view is text by now: nothing of it is joined, or even there, later. */
async function pageInside() {
  const text = JSON.stringify(await viewPage())
  return {
    name: 'page-inside',
    load: (id) =>
      id.endsWith('/src/view/page-text.ts')
        ? `export const pageText = () => Promise.resolve(${text})`
        : undefined,
  }
}

function withPlugins(options, ...plugins) {
  return { ...options, plugins: [...options.plugins, ...plugins] }
}

/**
 * The hook is copied to a place of its own, where nothing else of the package is. Its entry is one
 * small file; what it seldom needs is a second one, and the libraries of that are a third and fourth.
 */
async function bundleHook() {
  const output = { dir: 'dist/hook', format: 'cjs', entryFileNames: '[name].cjs', minify: true }
  const apart = {
    name: 'index-work-apart',
    resolveId: (name) =>
      name === './index-work.ts' ? { id: './index-work.cjs', external: true } : undefined,
  }
  await bundle({ hook: 'src/hooks/hook-main.ts' }, output, {
    plugins: [apart],
    treeshake: { moduleSideEffects: (id) => /hook-main/.test(id) },
  })
  await bundle({ 'index-work': 'src/hooks/index-work.ts' }, output)
  const libraries = {
    external: (name) => name.startsWith('node:'),
    resolve: { mainFields: ['module', 'main'] },
  }
  await bundle({ yaml: 'yaml', re2js: 're2js', 'jsonc-parser': 'jsonc-parser' }, output, libraries)
}

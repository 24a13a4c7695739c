// Makes dist/ from src/. The compiler checks and writes the declarations; the bundler joins the many
// small modules, because loading each from a file of its own would cost every start 100 ms. The
// library is ESM; the command line and the hook are CommonJS, which Node starts faster.
import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { asOneFile, bundle, commanderInside, librariesBeside, pageInside } from './bundles.mjs'
import { writeHook } from './plugins.mjs'

/** Libraries that the hook loads only when it needs them. */
const hookLibraries = ['re2js', 'jsonc-parser', 'smol-toml']
/** Libraries of the program beside the hook. */
const railLibraries = [...hookLibraries, 'zod']
/** What the hook loads of that program for a call of an MCP tool in a project with workflows. */
const fromRailProgram = {
  name: 'from-rail-program',
  resolveId: (name) =>
    name === './client-calls.ts' ? { id: './rail.cjs', external: true } : undefined,
}

rmSync('dist', { recursive: true, force: true })
execFileSync(process.execPath, ['node_modules/typescript/bin/tsc', '-p', 'tsconfig.build.json'], {
  stdio: 'inherit',
})
const entries = ['index', 'agent', 'ai', 'testing']
keepReachableDeclarations(entries.map((entry) => `dist/entries/${entry}.d.ts`))
await bundle(Object.fromEntries(entries.map((entry) => [entry, `src/entries/${entry}.ts`])), {
  dir: 'dist/entries',
  format: 'esm',
  chunkFileNames: 'shared/[name].js',
})
await bundle(
  { bin: 'src/cli/bin.ts' },
  {
    dir: 'dist/cli',
    format: 'cjs',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
  },
  {
    ...withPlugins(commanderInside(), await pageInside()),
    preserveEntrySignatures: 'allow-extension',
    treeshake: { moduleSideEffects: (id) => /cli\/bin\.ts$|\/commander\//.test(id) },
  },
)
chmodSync('dist/cli/bin.cjs', 0o755)
copyFileSync('node_modules/commander/LICENSE', 'dist/cli/LICENSE-commander')
copyFileSync('node_modules/js-yaml/LICENSE', 'dist/LICENSE-js-yaml')
copyFileSync('node_modules/porter2/LICENSE', 'dist/LICENSE-porter2')
copyFileSync('node_modules/unbash/LICENSE', 'dist/LICENSE-unbash')
copyFileSync('node_modules/zod/LICENSE', 'dist/LICENSE-zod')
await bundleHook()
const rail = await asOneFile('src/rail/rail-main.ts', railLibraries)
writeFileSync('dist/hook/rail.cjs', rail)
writeHook({
  hook: await asOneFile('src/rail/hook-main.ts', hookLibraries, [fromRailProgram]),
  rail,
})

/**
 * Keeps the declarations that an entry of the package leads to, and deletes the others. `#folder/file`
 * is a source in this repository only: in declarations it becomes a relative path.
 */
function keepReachableDeclarations(entries) {
  const kept = new Set()
  const visit = (file) => {
    if (kept.has(file)) return
    kept.add(file)
    const text = readFileSync(file, 'utf8').replaceAll(
      /(?<=(?:from|import\() ?['"])#([^'"]+)/g,
      (_, name) => relative(dirname(file), `dist/${name}.js`).replace(/^(?!\.)/, './'),
    )
    writeFileSync(file, text)
    for (const [, name = ''] of text.matchAll(/(?:from|import\() ?['"](\.[^'"]+)['"]/g)) {
      visit(join(dirname(file), name.replace(/\.[jt]s$/, '.d.ts')))
    }
  }
  for (const entry of entries) visit(entry)
  for (const name of readdirSync('dist', { recursive: true, encoding: 'utf8' })) {
    const file = join('dist', name)
    if (file.endsWith('.d.ts') && !kept.has(file)) rmSync(file)
  }
}

function withPlugins(options, ...plugins) {
  return { ...options, plugins: [...options.plugins, ...plugins] }
}

/**
 * The hook is copied to a place of its own, where nothing else of the package is. What an event always needs
 * is one file, and so is what an event of a rail needs: each file costs a start 0.3 ms or more. What is seldom
 * needed is loaded by dynamic import, and the libraries are beside it.
 */
async function bundleHook() {
  const output = {
    format: 'cjs',
    exports: 'named',
    entryFileNames: '[name].cjs',
    chunkFileNames: '[name].cjs',
  }
  const groups = [
    { name: 'always', tags: ['$initial'], priority: 1 },
    { name: 'rail-events', test: /[\\/]src[\\/]rail[\\/]events\.ts$|rolldown[\\/]runtime/ },
  ]
  await bundle(
    { hook: 'src/rail/hook-main.ts' },
    { ...output, dir: 'dist/hook', minify: true, codeSplitting: { groups } },
    {
      preserveEntrySignatures: 'allow-extension',
      plugins: [fromRailProgram, librariesBeside(hookLibraries)],
      treeshake: { moduleSideEffects: (id) => /hook-main/.test(id) },
    },
  )
  await bundle(
    Object.fromEntries(hookLibraries.map((name) => [name, name])),
    { ...output, dir: 'dist/hook/libraries', minify: true, exports: 'named' },
    {
      external: (name) => name.startsWith('node:'),
      resolve: { mainFields: ['module', 'main'] },
    },
  )
}

// Installs the packed package as a user would, and uses it under each supported Node: npm run test:package [-- VERSION…]
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('..', import.meta.url))
const directory = mkdtempSync(join(tmpdir(), 'skillrail-package-'))
const versions = process.argv.length > 2 ? process.argv.slice(2) : ['22', '24', '26']
let failed = 0

try {
  run(root, 'npm', 'pack', '--silent', '--pack-destination', directory)
  const [tarball = ''] = readdirSync(directory)
  for (const version of versions) checkUnder(version, join(directory, tarball))
} finally {
  rmSync(directory, { recursive: true, force: true })
}
console.log(`${versions.length - failed} passed, ${failed} failed`)
process.exitCode = failed === 0 ? 0 : 1

function checkUnder(version, tarball) {
  const project = join(directory, `node-${version}`)
  const write = (path, text) => {
    mkdirSync(dirname(join(project, path)), { recursive: true })
    writeFileSync(join(project, path), text)
  }
  write('package.json', '{ "name": "user", "private": true, "type": "module" }')
  try {
    run(
      project,
      'npm',
      'install',
      '--silent',
      '--no-audit',
      '--no-fund',
      `node@${version}`,
      'typescript@5',
      tarball,
    )
    const path = join(project, 'node_modules/node/bin')
    const skillrail = (...args) => runIn(path, project, 'npx', '--no-install', 'skillrail', ...args)
    const used = runIn(path, project, 'node', '--version').trim()
    if (!used.startsWith(`v${version}.`)) throw new Error(`it is Node ${used}`)
    skillrail('new', 'hello', '--description', 'Says hello. Use when somebody asks for a greeting.')
    write('.agents/skills/hello/scripts/run.sh', '#!/bin/sh\necho "hello $1"\n')
    chmodSync(join(project, '.agents/skills/hello/scripts/run.sh'), 0o755)
    skillrail('validate')
    skillrail('trust', '--yes')
    if (!skillrail('run', 'hello', 'reader', '--json').includes('hello reader'))
      throw new Error('run printed something else')
    skillrail('completion', 'bash')
    skillrail()
    write(
      'use.ts',
      `import { SkillManager } from 'skillrail'
import { Agent } from 'skillrail/agent'
const { skills } = await new SkillManager().discover()
const names: string[] = skills.map((skill) => skill.name)
if (names.join(' ') !== 'hello' || typeof Agent !== 'function') throw new Error(names.join(' '))\n`,
    )
    const options =
      '--noEmit --strict --skipLibCheck --module nodenext --target es2024 --types node'
    run(project, 'npm', 'install', '--silent', '--no-audit', '--no-fund', '@types/node@24')
    runIn(path, project, 'npx', '--no-install', 'tsc', ...options.split(' '), 'use.ts')
    runIn(path, project, 'node', '--disable-warning=ExperimentalWarning', 'use.ts')
    runIn(
      path,
      project,
      'node',
      '--input-type=commonjs',
      '--eval',
      "require('skillrail').SkillManager.name",
    )
    console.log(`Node ${used}: installed, validated, trusted, ran, imported with types`)
  } catch (error) {
    failed++
    console.error(`Node ${version}: ${error.message}`)
  }
}

function runIn(path, cwd, file, ...args) {
  const env = {
    PATH: `${path}:${process.env.PATH}`,
    HOME: join(cwd, 'home'),
    npm_config_cache: process.env.npm_config_cache ?? join(process.env.HOME ?? '', '.npm'),
  }
  return execute(cwd, env, file, args)
}

function run(cwd, file, ...args) {
  return execute(cwd, process.env, file, args)
}

function execute(cwd, env, file, args) {
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd, env, encoding: 'utf8' })
  if (status === 0) return stdout
  throw new Error(
    `${file} ${args.join(' ')}: ${error?.message ?? `exit code ${status}`}\n${stdout}${stderr}`,
  )
}

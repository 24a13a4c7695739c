import { execFileSync, spawnSync } from 'node:child_process'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type TestHome, write } from './home.ts'
import { commandLine, type Scene, type Script } from './rail-session.ts'

const setup = fileURLToPath(new URL('../../examples/rail-release/setup.sh', import.meta.url))

/** `examples/rail-release`, as its page says it is used. */
export const releaseScene: Scene = {
  chain: 'release',
  words: '1.1.0',
  make({ home, path, project }) {
    const env = { HOME: home, PATH: `${dirname(process.execPath)}:${path}` }
    execFileSync(setup, [project], { env })
    const args = [commandLine, 'trust', '--yes']
    const { status, stderr } = spawnSync(process.execPath, args, { cwd: project, env })
    if (status !== 0) throw new Error(String(stderr))
  },
}

const prepare = [
  `sed -i.old s/1.0.0/1.1.0/ package.json`,
  `printf '# Changelog\\n\\n## 1.1.0\\n\\nNothing new.\\n' > CHANGELOG.md`,
  `git commit -qam 'Release 1.1.0'`,
].join(' && ')

/** Publishes first, then prepares the version, and publishes when the user has approved. */
export const releaseScript: Script = [
  (tools) => ({ calls: [tools.shell('git push origin main')] }),
  (tools) => ({ calls: [tools.shell(prepare)] }),
  () => 'I prepared version 1.1.0.',
  pushWhenApproved,
  pushWhenApproved,
]

/** Claude Code confirms an approval when the turn of its prompt ends. */
function pushWhenApproved(
  ...[tools, body]: Parameters<Script[number]>
): ReturnType<Script[number]> {
  // What Git says about the push is in the request after it.
  const isDue = body.includes('The user approved') && !body.includes('main -> main')
  return isDue ? { calls: [tools.shell('git push origin main')] } : 'I wait.'
}

/** What `skillrail new --rail release` writes into a new repository, as the page on rails says it is used. */
export const newRailScene: Scene = {
  chain: 'release',
  words: '1.1.0',
  make({ home, path, project }) {
    const env = { HOME: home, PATH: `${dirname(process.execPath)}:${path}` }
    const run = (file: string, ...args: readonly string[]): void =>
      void execFileSync(file, args, { cwd: project, env, stdio: 'pipe' })
    write(join(project, 'package.json'), '{ "version": "1.0.0" }\n')
    run('git', 'init', '-q', '-b', 'main')
    run('git', 'init', '-q', '--bare', '-b', 'main', `${project}.git`)
    run('git', 'remote', 'add', 'origin', `${project}.git`)
    const check = 'grep -q 1.1.0 package.json'
    const options = ['--check', check, '--dir', '.claude/skills']
    run(process.execPath, commandLine, 'new', '--rail', 'release', ...options)
    run(process.execPath, commandLine, 'trust', '--yes')
    run('git', 'config', 'user.name', 'Example')
    run('git', 'config', 'user.email', 'example@example.com')
    run('git', 'add', '-A')
    run('git', 'commit', '-q', '-m', 'Start the project')
    run('git', 'push', '-q', '-u', 'origin', 'main')
  },
}

/** Publishes first, claims success, and prepares the version when the check has failed. */
export const newRailScript: Script = [
  (tools) => ({ calls: [tools.shell('git push origin main')] }),
  () => 'The release is done.',
  (tools) => ({
    calls: [
      tools.shell("sed -i.old s/1.0.0/1.1.0/ package.json && git commit -qam 'Release 1.1.0'"),
    ],
  }),
  () => 'I prepared version 1.1.0.',
  pushWhenApproved,
  pushWhenApproved,
]

/** The version that the remote has. */
export function publishedVersion({ project }: TestHome): string {
  const words = ['-C', `${project}.git`, 'show', 'main:package.json']
  const text = execFileSync('git', words, { encoding: 'utf8' })
  const { version }: { version: string } = JSON.parse(text)
  return version
}

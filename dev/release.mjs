// Prepares a release, or prints its notes:
//
//   node dev/release.mjs X.Y.Z           version in package.json, section in CHANGELOG.md, commit, tag
//   node dev/release.mjs --notes vX.Y.Z  the section of CHANGELOG.md; fails if the version differs
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'

const [first = '', tag = ''] = process.argv.slice(2)
const manifest = JSON.parse(readFileSync('package.json', 'utf8'))
const changes = readFileSync('CHANGELOG.md', 'utf8')

if (first === '--notes') {
  const version = tag.replace(/^v/, '')
  if (version !== manifest.version)
    fail(`${tag} is not the version ${manifest.version} of package.json`)
  process.stdout.write(`${sectionOf(version)}\n`)
} else if (/^\d+\.\d+\.\d+$/.test(first)) prepare(first)
else fail('usage: node dev/release.mjs X.Y.Z, or --notes vX.Y.Z')

function prepare(version) {
  if (run('git', 'status', '--porcelain') !== '') fail('commit or remove your changes first')
  if (sectionOf('Unreleased') === '') fail('CHANGELOG.md has nothing under Unreleased')
  const date = new Date().toISOString().slice(0, 10)
  writeFileSync(
    'CHANGELOG.md',
    changes.replace('## Unreleased\n', `## Unreleased\n\n## ${version} (${date})\n`),
  )
  run('npm', 'version', version, '--no-git-tag-version', '--allow-same-version')
  run('npm', 'run', '--silent', 'generate')
  run('git', 'commit', '--all', '--message', `chore(release): ${version}`)
  run('git', 'tag', '--annotate', `v${version}`, '--message', `v${version}`)
  console.log(`v${version} is tagged. Publish it with: git push --follow-tags`)
}

/** The text below a heading of the change log. */
function sectionOf(title) {
  const [, section = ''] = changes.split(
    new RegExp(`^## ${title.replaceAll('.', '\\.')}(?: .*)?\n`, 'm'),
  )
  return section.split(/^## /m)[0]?.trim() ?? ''
}

function run(program, ...args) {
  const { status, stdout } = spawnSync(program, args, {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  if (status !== 0) fail(`${program} ${args.join(' ')} failed`)
  return stdout.trim()
}

function fail(message) {
  console.error(message)
  process.exit(1)
}

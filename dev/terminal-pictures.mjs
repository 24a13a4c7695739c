// Makes the pictures of commands from the built command line, docs/assets/NAME-{light,dark}.svg; dev/pictures.mjs
// starts it:
//
//   node dev/terminal-pictures.mjs rail|prompt|run|overview
//
// Every line in them was printed by a command that ran in a project of its own. Times are those of that run; the
// IDs of runs are replaced, so that the other pictures are the same each time.
import { spawnSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { playDemo, wrapped } from './demo.mjs'

/** Of every picture, so that a page can show it without making its text small. */
const columns = 96

const root = fileURLToPath(new URL('..', import.meta.url))

const themes = {
  light: {
    back: '#ffffff',
    frame: '#d0d7de',
    text: '#1f2328',
    dim: '#6e7781',
    31: '#cf222e',
    32: '#1a7f37',
    33: '#9a6700',
    36: '#0550ae',
  },
  dark: {
    back: '#0d1117',
    frame: '#30363d',
    text: '#e6edf3',
    dim: '#8b949e',
    31: '#ff7b72',
    32: '#3fb950',
    33: '#d29922',
    36: '#79c0ff',
  },
}

const pictures = {
  rail: railPicture,
  prompt: promptPicture,
  run: runPicture,
  overview: overviewPicture,
}

if (import.meta.main) main(process.argv[2])

function main(name) {
  const make = pictures[name]
  if (make === undefined) throw new Error(`no picture ${name}: ${Object.keys(pictures).join(', ')}`)
  const place = realpathSync(mkdtempSync(join(tmpdir(), 'skillrail-pictures-')))
  try {
    const lines = make(place).map((line) =>
      line.replaceAll(/\b0m[0-9a-z]{12}\b/g, '0mx1rddb9v6cxa'),
    )
    mkdirSync(join(root, 'docs/assets'), { recursive: true })
    for (const theme of Object.keys(themes)) {
      writeFileSync(join(root, 'docs/assets', `${name}-${theme}.svg`), svgOf(lines, theme))
    }
  } finally {
    rmSync(place, { recursive: true, force: true })
  }
}

/** The session of `npm start`: a prompt with its reference, then a chain that the agent does not skip. */
function railPicture() {
  const colours = { you: 36, agent: 33, Skillrail: 32 }
  const { reference, chain } = playDemo()
  const lines = [...reference, ['', ''], ...chain].flatMap(([who, text]) => {
    const name = who.padEnd(11)
    const colour = colours[who]
    const [first, ...others] = wrapped(text, columns - name.length)
    const styled = colour === undefined ? name : `\u001b[${colour}m${name}\u001b[39m`
    return [`${styled}${first}`, ...others.map((line) => `${' '.repeat(name.length)}${line}`)]
  })
  return lines
}

/** A prompt as it was typed, and what the model reads after the hook of Claude Code ran. */
function promptPicture(place) {
  const [project, home] = [join(place, 'prompt-project'), join(place, 'prompt-home')]
  mkdirSync(project)
  cpSync(
    join(root, 'examples/progressive-disclosure/deploy-service'),
    join(home, '.claude/skills/deploy-service'),
    { recursive: true },
  )
  const prompt = '/deploy-service release web'
  const input = { session_id: 'picture', hook_event_name: 'UserPromptSubmit', cwd: project, prompt }
  const answer = JSON.parse(
    skillrail(project, home, ['hooks', 'run', 'claude'], JSON.stringify(input)),
  )
  const given = answer.hookSpecificOutput.additionalContext.trim().split('\n')
  const shown = given.slice(0, 12)
  return [
    '\u001b[2mwhat you type\u001b[22m',
    `\u001b[36m${prompt}\u001b[39m`,
    '',
    '\u001b[2mwhat the model reads before it starts\u001b[22m',
    `\u001b[36m${prompt}\u001b[39m`,
    ...shown.flatMap((line) => wrapped(line, columns)).map((line) => `\u001b[32m${line}\u001b[39m`),
    `\u001b[2m… ${given.length - shown.length} more lines of references/release-flow.md\u001b[22m`,
  ]
}

/** Parallel steps of the examples, as they stand on the screen at their end. */
function runPicture(place) {
  const project = join(place, 'shop')
  cpSync(join(root, 'examples/shop'), project, { recursive: true })
  const args = ['run', 'skills/audit-fast', '--trust-workspace']
  return [
    `$ skillrail ${args.join(' ')}`,
    ...skillrail(project, join(place, 'run-home'), args).trimEnd().split('\n'),
  ]
}

/** A project with an invalid skill, a run that waits and a client without the hook. */
function overviewPicture(place) {
  const [project, home] = [join(place, 'web-shop'), join(place, 'overview-home')]
  mkdirSync(join(home, '.claude'), { recursive: true })
  mkdirSync(join(project, '.git'), { recursive: true })
  const skills = join(project, '.agents/skills')
  cpSync(join(root, 'examples/gated-deploy'), skills, { recursive: true })
  const skill = (name, description) => {
    mkdirSync(join(skills, name), { recursive: true })
    writeFileSync(join(skills, name, 'SKILL.md'), `---\nname: ${name}\n${description}---\nDo it.\n`)
  }
  skill('pdf', '')
  skill('release-notes', 'description: Writes release notes. Use when a version is tagged.\n')
  skillrail(project, home, ['trust', '--yes'])
  skillrail(project, home, ['run', 'release', join(place, 'target'), '--quiet'])
  return [
    '$ skillrail',
    ...skillrail(project, home, []).replaceAll(project, '~/web-shop').trimEnd().split('\n'),
  ]
}

function skillrail(cwd, home, args, input = '') {
  const env = {
    PATH: `${join(process.execPath, '..')}:/usr/bin:/bin`,
    HOME: home,
    FORCE_COLOR: '1',
    COLUMNS: `${columns}`,
  }
  const { stdout, stderr, error } = spawnSync(
    process.execPath,
    [join(root, 'dist/cli/bin.cjs'), ...args],
    { cwd, env, input, encoding: 'utf8' },
  )
  if (error !== undefined || stdout === '')
    throw new Error(`skillrail ${args.join(' ')}: ${error?.message ?? stderr}`)
  return stdout
}

/** Lines with colours of a terminal as an SVG; `theme` is `light` or `dark`. */
function svgOf(lines, theme) {
  const colours = themes[theme]
  const [column, row, margin] = [8, 20, 20]
  const width = Math.max(...lines.map((line) => plain(line).length)) * column + 2 * margin
  const height = lines.length * row + 2 * margin
  const rows = lines.map((line, index) => {
    const y = margin + index * row + 14
    const parts = piecesOf(line).map(({ text, style, at }) => {
      const fill = colours[style] ?? colours.text
      const length = [...text].length * column
      return `<text x="${margin + at * column}" y="${y}" fill="${fill}" textLength="${length}" xml:space="preserve">${escaped(text)}</text>`
    })
    return parts.join('')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img">
<title>${escaped(lines.map(plain).join('\n'))}</title>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="8" fill="${colours.back}" stroke="${colours.frame}"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13.3">
${rows.join('\n')}
</g>
</svg>
`
}

/** Pieces of one style, each with its column. */
function piecesOf(line) {
  const pieces = []
  let [style, at] = ['text', 0]
  for (const [, code, text] of line.matchAll(/\u001b\[(\d+)m|([^\u001b]+)/g)) {
    if (text === undefined) style = styleOf(code)
    else {
      if (text.trim() !== '') pieces.push({ text, style, at })
      at += [...text].length
    }
  }
  return pieces
}

function styleOf(code) {
  if (code === '2') return 'dim'
  return ['31', '32', '33', '36'].includes(code) ? code : 'text'
}

function plain(line) {
  return line.replaceAll(/\u001b\[\d+m/g, '')
}

function escaped(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}

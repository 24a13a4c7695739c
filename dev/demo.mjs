// What Skillrail is for, as a session: a reference that is injected, and a chain whose steps are checked. The hook is
// the real one, in a project of its own (examples/rail-release); the user and the agent are scripted.
import assert from 'node:assert/strict'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { firstStep, openSession, textOf } from '../examples/rail-release/client.mjs'

const skill = fileURLToPath(
  new URL('../examples/progressive-disclosure/deploy-service', import.meta.url),
)

/**
 * Plays the session. Each line has a speaker (`you`, `agent` or `Skillrail`) and what they say or do.
 *
 * @returns {{ reference: [string, string][], chain: [string, string][] }}
 */
export function playDemo() {
  const session = openSession()
  try {
    cpSync(skill, join(session.home, '.claude/skills/deploy-service'), { recursive: true })
    return { reference: injectedReference(session), chain: checkedChain(session) }
  } finally {
    session.close()
  }
}

function injectedReference(session) {
  const prompt = '/deploy-service release web'
  const context = textOf(session.type(prompt))
  const [, file] = /injected: (\S+)/.exec(context) ?? []
  const [first, second] = context.split('\n').filter((line) => /^\d\. /.test(line))
  assert(file && first && second, context)
  return [
    ['you', prompt],
    ['Skillrail', `adds ${file} to the prompt, so the model starts with it:`],
    ['', first],
    ['', second],
    ['', '…'],
  ]
}

function checkedChain(session) {
  const push = 'git push origin main'
  const started = textOf(firstStep(session, session.type('/release 1.1.0')))
  const denied = session.denial(push)
  const blocked = session.endTurn('It is released.').reason
  session.prepare('1.1.0')
  const waits = session.endTurn('Version 1.1.0 is prepared.').systemMessage
  const deniedAgain = session.denial(push)
  const published = session.publishedVersion()
  assert(denied && deniedAgain && published === '1.0.0', 'a push was not denied')
  const [, printed = ''] = blocked.split('printed:\n')
  return [
    ['you', '/release 1.1.0'],
    ['Skillrail', sentences(started, /Do only this step now/, /the step counts only/)],
    ['agent', `$ ${push}`],
    ['Skillrail', `denied: ${sentences(denied, /belongs to the step/)}`],
    ['agent', '"It is released."'],
    ['Skillrail', `not done: ${sentences(blocked, /is not done/).split('is not done: ')[1]}`],
    ['', printed.split('\n')[0]],
    ['agent', '(sets the version, writes the changelog, commits) "Version 1.1.0 is prepared."'],
    ['Skillrail', sentences(waits, /ended: success/, /waits for/, /Type/)],
    ['agent', `$ ${push}`],
    ['Skillrail', `denied: ${sentences(deniedAgain, /belongs to the step/)}`],
  ]
}

/** The sentences of a text in which one of these occurs, on one line. */
function sentences(text, ...wanted) {
  const all = text.replaceAll(/\s+/g, ' ').split(/(?<=\.) (?=[A-Zr])/)
  const found = all.filter((sentence) => wanted.some((pattern) => pattern.test(sentence)))
  assert(found.length > 0, text)
  return found.join(' ')
}

/** The text in lines of at most `width` columns, if its words allow it. */
export function wrapped(text, width) {
  if (text.length <= width) return [text]
  const lines = ['']
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last !== '' && last.length + 1 + word.length > width) lines.push(word)
    else lines[lines.length - 1] = last === '' ? word : `${last} ${word}`
  }
  return lines
}

// Does what a hasty agent does. It cannot approve, because only a prompt of the client itself counts.
import assert from 'node:assert/strict'
import { firstStep, openSession, textOf } from './client.mjs'

const session = openSession()
try {
  const started = firstStep(session, session.type('/release 1.1.0'))
  assert.match(textOf(started), /Do only this step now: `implement`/)

  assert.match(session.denial('git push origin main') ?? '', /belongs to the step `publish`/)
  const early = session.endTurn('It is released.')
  assert.equal(early.decision, 'block', JSON.stringify(early))

  session.prepare('1.1.0')
  assert.match(session.endTurn('I prepared the version.').systemMessage, /waits for your approval/)
  assert.match(session.denial('git push origin main') ?? '', /belongs to the step `publish`/)
  assert.equal(session.publishedVersion(), '1.0.0')

  assert.doesNotMatch(textOf(session.type('rail approve')), /Do only this step now/)
  session.endTurn()
  assert.match(session.denial('git push origin main') ?? '', /belongs to the step `publish`/)
  assert.equal(session.publishedVersion(), '1.0.0')

  const { attempts } = JSON.parse(session.skillrail('runs', 'show', 'latest', '--json'))
  const steps = attempts[0].steps.map((step) => `${step.step}: ${step.evidence ?? step.status}`)
  assert.deepEqual(steps.slice(2), ['implement: verified', 'publish: waiting'])
} finally {
  session.close()
}

export interface AgentPromptParts {
  /** The wrapped content of the skill, as a model gets it on activation. */
  content: string
  /** References that its triggers inject, rendered; empty for none. */
  references: string
  step: string
  /** `chain_state` as JSON. */
  state: string
  /** How the report is given: as a block in the answer (default), or by a schema. */
  report?: 'block' | 'schema' | undefined
}

/**
 * The whole prompt of a step for an agent's command line or a model. Nothing is left to it to find.
 * The example of the answer stands behind bars, so that an echo of the prompt is never taken for it.
 */
export function agentPrompt({
  content,
  references,
  step,
  state,
  report = 'block',
}: AgentPromptParts): string {
  const parts = [
    `You carry out one step of a chain of skills: ${step}. These are its instructions.`,
    content,
    ...(references === '' ? [] : [`These references belong to them:\n\n${references.trimEnd()}`]),
    statePart(state),
    report === 'block' ? `${task} ${blockForm}` : `${task} ${schemaForm}`,
  ]
  return `${parts.join('\n\n')}\n`
}

/** What is said of `chain_state`, given as JSON. Nothing that a step left ends the block. */
export function statePart(state: string): string {
  const kept = state.replaceAll('</', String.raw`<\/`)
  return `What the steps before it left, as JSON:\n\n<chain_state>\n${kept}\n</chain_state>`
}

const task = 'Do this step and nothing of what may come after it. Nobody can answer questions.'

const statuses = 'The status is success, failure or critical.'

const schemaForm = `When you are done, or cannot go on, report it as JSON. ${statuses} The result is one sentence that says what was done, or all of what was asked for. Give each thing that went wrong as one of the errors.`

const blockForm = `When you are done, or cannot go on, end your answer with a YAML block of this form, without the bars:

| output:
|   status: success
|   result: one sentence that says what was done
|   errors: []
|   metrics: {}

${statuses} Give each thing that went wrong as a line of errors. Without this block the step counts as failed.`

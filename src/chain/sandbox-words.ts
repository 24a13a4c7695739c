/** What is there to a failure in the sandbox, and to a plan that runs something in one. */
interface Remedy {
  /** How to allow its skill more, where nobody trusts it. */
  allowing: string | undefined
  /** Whether there was a command line to grant something with. */
  grants: boolean
}

/** What to do about a failure in the sandbox. */
export function sandboxHint(sandbox: string, remedy: Remedy): string {
  return withRemedy(`It ran in a sandbox (${sandbox})`, remedy)
}

/** What a plan says of steps that run in one. */
export function sandboxForeseen(allowing: string | undefined): string {
  return withRemedy('What is marked sandbox runs in one', { allowing, grants: true })
}

/** What a step that failed says, behind where it ran. */
export function saidInside(said: string, sandbox: string | undefined): string {
  return sandbox === undefined ? said : `in the sandbox: ${said}`
}

function withRemedy(what: string, { allowing, grants }: Remedy): string {
  const but = grants ? ', but for what --grant gives' : ''
  const kept = `${what}, which keeps the project, the network and your environment from it${but}.`
  return allowing === undefined ? kept : `${kept} ${allowing}`
}

import { listenOnLoopback, type LoopbackServer } from './loopback.ts'

export interface GithubStandIn extends LoopbackServer {
  /** Requests as `METHOD path`, in their order. */
  requests: string[]
}

const user = { login: 'ann', id: 1, avatar_url: 'a', url: 'u', html_url: 'h' }
const repo = {
  id: 1,
  node_id: 'n',
  name: 'hello',
  full_name: 'octo/hello',
  private: false,
  owner: { ...user, node_id: 'n', gravatar_id: '', type: 'User' },
  html_url: 'h',
  description: null,
  fork: false,
  url: 'u',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  pushed_at: '2026-01-01T00:00:00Z',
  git_url: 'g',
  ssh_url: 's',
  clone_url: 'c',
  default_branch: 'main',
}

const branch = { label: 'octo:dev', ref: 'dev', sha: 'abc', user, repo }

const pull = {
  number: 12,
  id: 1,
  node_id: 'n',
  url: 'u',
  html_url: 'https://example.com/pull/12',
  diff_url: 'd',
  patch_url: 'p',
  issue_url: 'i',
  state: 'open',
  locked: false,
  title: 'Adds a thing',
  user,
  body: 'It adds it.',
  created_at: '2026-01-01T00:00:00Z',
  updated_at: '2026-01-01T00:00:00Z',
  closed_at: null,
  merged_at: null,
  merge_commit_sha: null,
  assignee: null,
  assignees: [],
  requested_reviewers: [],
  labels: [],
  head: branch,
  base: branch,
}

/** Answers of GitHub's REST API for one pull request, by method and path. */
const answers: Readonly<Record<string, unknown>> = {
  'GET /repos/octo/hello/pulls/12': pull,
  'GET /repos/octo/hello/pulls/12/files': [
    {
      sha: 'f',
      filename: 'a.ts',
      status: 'added',
      additions: 3,
      deletions: 0,
      changes: 3,
      blob_url: 'b',
      raw_url: 'r',
      contents_url: 'c',
    },
  ],
  'GET /repos/octo/hello/commits/abc/status': {
    state: 'success',
    statuses: [],
    sha: 'abc',
    total_count: 0,
  },
  'PUT /repos/octo/hello/pulls/12/merge': { sha: 'def', merged: true, message: 'merged' },
}

/** Replaces the GitHub API on loopback, with pull request 12 of octo/hello. */
export async function startGithub(): Promise<GithubStandIn> {
  const requests: string[] = []
  const server = await listenOnLoopback((request, response) => {
    const [path = ''] = (request.url ?? '').split('?')
    const key = `${String(request.method)} ${path}`
    requests.push(key)
    const isKnown = Object.hasOwn(answers, key)
    response.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' })
    response.end(JSON.stringify(isKnown ? answers[key] : { message: 'Not Found' }))
  })
  return { ...server, requests }
}

/** What each client does for a rail, as a Markdown table. */
export function railsTable(): string

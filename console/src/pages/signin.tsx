import { useState } from "preact/hooks";
import { messageOf, session } from "../api/client";
import { Button, Field, Notice, Text } from "../components/ui";
import { start, useTitle } from "../state";

export function SignIn() {
  useTitle("Sign in");
  const [id, setId] = useState("");
  const [secret, setSecret] = useState("");
  const [error, setError] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const submit = async (event: Event) => {
    event.preventDefault();
    setBusy(true);
    try {
      await session.open(id.trim(), secret.trim());
      await start();
    } catch (problem) {
      setError(messageOf(problem));
    }
    setBusy(false);
  };
  return (
    <main class="sign-in">
      <form onSubmit={(event) => void submit(event)}>
        <h1><span class="logo" aria-hidden="true" />Stator</h1>
        <p class="muted">This database has access keys. Sign in with one; <code>stator key list</code> shows them.</p>
        <Field label="Access key" wide>{(field) => <Text id={field} value={id} onValue={setId} autocomplete="username" autofocus required />}</Field>
        <Field label="Secret access key" wide>{(field) => <Text id={field} type="password" value={secret} onValue={setSecret} autocomplete="current-password" required />}</Field>
        {error && <Notice tone="bad">{error}</Notice>}
        <Button type="submit" kind="primary" disabled={busy}>{busy ? "Signing in…" : "Sign in"}</Button>
      </form>
    </main>
  );
}

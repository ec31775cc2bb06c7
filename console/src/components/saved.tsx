import { useState } from "preact/hooks";
import { consoleApi, messageOf } from "../api/client";
import type { Saved } from "../api/types";
import { newId } from "../lib/format";
import { useLoad } from "../state";
import { Dialog } from "./dialog";
import { toast } from "./toast";
import { Button, Empty, Field, Notice, Spinner, Tabs, Text } from "./ui";
import { Safe } from "./value";

// Kept queries and history of one kind.  `current`: what would be kept now.
export function SavedDialog({ kind, table, current, suggested, onPick, onClose }: { kind: string; table?: string; current: unknown; suggested: string; onPick: (entry: Saved) => void; onClose: () => void }) {
  const [tab, setTab] = useState<"saved" | "history">("saved");
  const [name, setName] = useState(suggested.slice(0, 100));
  const [error, setError] = useState<string | null>(null);
  const list = useLoad(async () => (tab === "saved" ? await consoleApi.saved() : await consoleApi.history()).items, [tab]);
  const shown = (list.data ?? []).filter((one) => one.kind === kind && (!table || one.table === table));
  const act = async (work: Promise<unknown>, said: string) => {
    try {
      await work;
      toast(said);
      list.reload();
    } catch (problem) {
      setError(messageOf(problem));
    }
  };
  return (
    <Dialog title="Saved and recent" onClose={onClose}>
      <form class="row nowrap" onSubmit={(event) => { event.preventDefault(); void act(consoleApi.save({ id: newId(), kind, name, body: current, ...(table ? { table } : {}) }), "Saved"); }}>
        <span class="grow"><Field label="Keep the current one as">{(id) => <Text id={id} value={name} maxLength={200} onValue={setName} data-first />}</Field></span>
        <Button type="submit" kind="primary" class="bottom" disabled={!name}>Save</Button>
      </form>
      <Tabs label="Which" value={tab} onValue={setTab} tabs={[{ value: "saved", text: "Saved" }, { value: "history", text: "History" }]} />
      {(error ?? list.error) && <Notice tone="bad">{error ?? list.error}</Notice>}
      {list.loading && !list.data ? <Spinner /> : !shown.length ? (
        <Empty icon={tab === "saved" ? "star" : "clock"} title={tab === "saved" ? "Nothing is saved yet" : "Nothing was run yet"}>{tab === "saved" ? "Keep what you run often. The server stores it, for everybody who uses this console." : "What you run is listed here."}</Empty>
      ) : (
        <ul class="list">
          {shown.map((one) => (
            <li key={one.id}>
              <button type="button" class="list-main" onClick={() => onPick(one)}><span class="clip"><Safe text={one.name} /></span>{one.table && !table && <small class="muted">{one.table}</small>}</button>
              {tab === "saved" && <Button kind="quiet" icon="trash" label={`Forget ${one.name}`} onClick={() => void act(consoleApi.forget(one.id), "Forgotten")} />}
            </li>
          ))}
        </ul>
      )}
      {tab === "history" && shown.length > 0 && <div><Button icon="trash" onClick={() => void act(consoleApi.forgetHistory(), "The history is empty")}>Empty the history</Button></div>}
    </Dialog>
  );
}

// Deleting a table, and emptying it: both ask for the table's name.
import { useRef, useState } from "preact/hooks";
import { call, describeTable } from "../../api/client";
import type { Item, PageOfItems } from "../../api/types";
import { Confirm } from "../../components/dialog";
import { toast } from "../../components/toast";
import { Notice } from "../../components/ui";
import { writeAll } from "../../lib/batch";
import { count } from "../../lib/format";
import { go, path, tableUrl } from "../../router";
import { refreshTables } from "../../state";

export function DeleteTable({ name, onClose }: { name: string; onClose: () => void }) {
  return (
    <Confirm title={`Delete ${name}`} action="Delete the table" typed={name} onClose={onClose} run={async () => {
      await call("DeleteTable", { TableName: name });
      toast(`${name} is being deleted`);
      await refreshTables();
      if (path.peek().startsWith(tableUrl(name))) go("/tables");
    }}>
      <p>The table, its indexes and all its items are deleted. This cannot be undone.</p>
    </Confirm>
  );
}

export function PurgeTable({ name, onClose }: { name: string; onClose: () => void }) {
  const [done, setDone] = useState<number | null>(null);
  const stop = useRef(new AbortController());
  const purge = async () => {
    const table = await describeTable(name);
    const keys = table.KeySchema.map((key) => key.AttributeName);
    let deleted = 0;
    let from: Item | undefined;
    setDone(0);
    do {
      const page: PageOfItems = await call("Scan", {
        TableName: name, ProjectionExpression: keys.map((_, i) => `#k${i}`).join(", "),
        ExpressionAttributeNames: Object.fromEntries(keys.map((key, i) => [`#k${i}`, key])), ...(from ? { ExclusiveStartKey: from } : {}),
      }, stop.current.signal);
      const requests = (page.Items ?? []).map((Key) => ({ DeleteRequest: { Key } }));
      await writeAll(name, requests, (n) => setDone((deleted += n)), stop.current.signal);
      from = page.LastEvaluatedKey;
    } while (from);
    toast(`${name} is empty: ${count(deleted)} items were deleted`);
    await refreshTables();
  };
  return (
    <Confirm title={`Purge ${name}`} action="Delete all items" typed={name} run={purge} onClose={() => { stop.current.abort(); onClose(); }}>
      <p>All items are deleted. The table stays, with its indexes and settings. This cannot be undone.</p>
      {done !== null && <Notice>{count(done)} items are deleted. Closing this stops.</Notice>}
    </Confirm>
  );
}

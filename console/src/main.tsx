import { effect } from "@preact/signals";
import { render } from "preact";
import { reconnections } from "./api/client";
import { App } from "./app";
import { start } from "./state";
import "./styles/main.css";
import "./styles/models.css";

effect(() => {
  void reconnections.value;
  void start();
});
render(<App />, document.getElementById("app")!);

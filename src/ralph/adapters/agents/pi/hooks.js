// An extension of pi: asks Ralph before each use of a tool, and tells it what the tool has answered,
// in the words of Claude Code's hooks. RALPH_HOOK holds the command as a JSON list.
import { spawn } from "node:child_process";

const REFUSED = 2;

function ask(name, payload) {
  const [program, ...words] = JSON.parse(process.env.RALPH_HOOK);
  return new Promise((resolve) => {
    const child = spawn(program, [...words, name], { stdio: ["pipe", "pipe", "pipe"] });
    let out = "";
    let err = "";
    child.stdout.on("data", (data) => (out += data));
    child.stderr.on("data", (data) => (err += data));
    child.stdin.on("error", () => {});
    child.on("error", (error) => resolve({ code: REFUSED, out: "", err: String(error) }));
    child.on("close", (code) => resolve({ code, out, err }));
    child.stdin.end(JSON.stringify(payload));
  });
}

export default function (pi) {
  pi.on("tool_call", async (event, ctx) => {
    const { code, out, err } = await ask("pre-tool-use", {
      hook_event_name: "PreToolUse",
      cwd: ctx.cwd,
      tool_name: event.toolName,
      tool_input: event.input,
    });
    if (code !== 0) return { block: true, reason: err.trim() || "Ralph cannot be asked" };
    const said = out.trim() ? JSON.parse(out).hookSpecificOutput : {};
    if (said.permissionDecision === "deny") {
      return { block: true, reason: said.permissionDecisionReason };
    }
    if (said.updatedInput) Object.assign(event.input, said.updatedInput);
  });
  pi.on("tool_result", async (event, ctx) => {
    const text = event.content.map((part) => part.text ?? "").join("\n");
    const answer = event.isError ? { error: text } : { tool_response: text };
    const { out } = await ask("post-tool-use", { cwd: ctx.cwd, tool_name: event.toolName, ...answer });
    const message = out.trim() ? JSON.parse(out).hookSpecificOutput?.additionalContext : undefined;
    if (message) return { content: [...event.content, { type: "text", text: message }] };
  });
}

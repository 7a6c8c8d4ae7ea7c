# SPDX-License-Identifier: GPL-3.0-or-later
"""Long work in a thread, and the one modal operator that waits for it with progress in the status bar and Esc.

1. What needs long work is written as a generator, its steps: it reads Blender, yields the work as a function of a
   progress callback, gets back what the work returns, or its error, and applies that to Blender. The work must not
   touch bpy.
2. `Flow` takes the steps. A script and background mode wait for all work; in a window Blender waits MODAL_AFTER_S.
3. What takes longer is waited for by an operator: by the one that has the steps (`BackgroundOperator`), or by
   `contact_lens.wait` where no operator began it (`wait_for`).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Generator
from typing import TYPE_CHECKING, Any, ClassVar, Generic, TypeVar

import bpy
from bpy.props import StringProperty

from ...core.progress import Cancelled, Progress
from ..data import messages
from ..geometry.snapshot import ReadError
from ..pair.separate import SeparateError
from . import handlers

_T = TypeVar("_T")

MODAL_AFTER_S = 0.3
"""Seconds Blender waits for work; after that it continues and shows the progress."""
POLL_INTERVAL_S = 0.1
"""Seconds between two looks at work that runs."""
LONGEST_LOOK_S = 1.0
"""Seconds of work after which Blender draws and takes Esc, however long it draws."""
WORK_PER_DRAWING = 4.0
"""Seconds of work for each second of drawing, where drawing is slow."""
CANCELLED_INTERVAL_S = 0.01
"""Seconds between two looks at whether cancelled work has ended."""
JOIN_TIMEOUT_S = 10.0
"""Seconds that cancelled work may take to end when the add-on is disabled."""

Work = Callable[[Progress], _T]
Steps = Generator[Work[Any], Any, set[str]]


class Task(Generic[_T]):
    """Work in a thread of its own, with its progress, and which can be cancelled."""

    running: ClassVar[set[Task[Any]]] = set()

    def __init__(self, work: Work[_T], is_blocking: bool = False) -> None:
        """Start the work; if blocking, in this thread, to its end."""
        self.progress = 0.0
        """The fraction done, 0 to 1."""
        self._work = work
        self._is_cancelled = False
        self._result: list[_T] = []
        self._error: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="Contact Lens", daemon=True)
        if is_blocking:
            self._run()
        else:
            self.running.add(self)
            self._thread.start()

    def _run(self) -> None:
        try:
            self._wait_for_cancelled()
            self._result.append(self._work(self._report))
        except Cancelled:
            self._error = Cancelled()  # without the frames of the work, which keep meshes until Python looks for cycles
        except BaseException as error:  # raised where the result is asked for
            self._error = error
        del self._work
        self.running.discard(self)

    def _wait_for_cancelled(self) -> None:
        """Wait until work that was cancelled has ended: what it keeps is freed, and what it still makes is not made
        again. Raise Cancelled."""
        while self in self.running and any(task._is_cancelled for task in tuple(self.running)):
            if self._is_cancelled:
                raise Cancelled
            time.sleep(CANCELLED_INTERVAL_S)

    def _report(self, fraction: float) -> bool:
        self.progress = fraction
        return not self._is_cancelled

    def wait(self, seconds: float) -> bool:
        """Wait for the end, at most so long; return whether it has come."""
        if self._thread.ident is not None:
            self._thread.join(seconds)
        return not self._thread.is_alive()

    def cancel(self) -> None:
        """Ask the work to end soon."""
        self._is_cancelled = True

    def result(self) -> _T:
        """Return what the work returned, once it has ended. Raise what it raised: Cancelled if it was cancelled."""
        if self._error is not None:
            raise self._error
        return self._result[0]


class Flow:
    """Steps that are being taken, and the task that runs the work they wait for."""

    def __init__(self, title: str, steps: Steps, keeps_partial: bool = False) -> None:
        """keeps_partial: whether work that is cancelled returns what is done, instead of raising Cancelled."""
        self.title = title
        self.result: set[str] | None = None
        """What the steps returned, as an operator returns it; None while they are being taken."""
        self.task: Task[Any] | None = None
        self.is_shown = False
        """Whether an operator waits for it."""
        self.reports: list[tuple[Any, str]] = []
        """What the operator that waits for it reports in the end: kinds and sentences."""
        self.keeps_partial = keeps_partial
        self.is_cancelled = False
        self.done = 0.0
        """The fraction done before the work that runs, where steps are many."""
        self._steps = steps

    @property
    def progress(self) -> float:
        """The fraction done of the work that runs, 0 to 1."""
        return max(self.done, 0.0 if self.task is None else self.task.progress)

    @property
    def status(self) -> str:
        """What is being done, how far it is, and what Esc does."""
        progress = messages.in_progress(self.title, self.progress)
        return f"{progress}    Esc: {'stop and keep partial results' if self.keeps_partial else 'cancel'}"

    def run(self, seconds: float | None, until: float = math.inf) -> bool:
        """Take the steps; return whether they have ended. Raise what they raise, but for Cancelled.

        seconds: how long to wait for work; None: until it ends, in this thread. until: when to wait for no more of it.
        """
        while self.result is None and (
            self.task is None or self.task.wait(min(seconds or 0.0, max(0.0, until - time.monotonic())))
        ):
            self._advance(seconds is None, None)
        return self.result is not None

    def _advance(self, is_blocking: bool, error: BaseException | None) -> None:
        """Send the steps what their work returned, or throw its error; start the work they yield next."""
        task, self.task = self.task, None
        made = None
        try:
            if task is not None and error is None:
                made = task.result()
        except Exception as raised:
            error = raised
        try:
            work = self._steps.send(made) if error is None else self._steps.throw(error)
        except StopIteration as end:
            self.result = end.value
        except BaseException as raised:
            self.result = {"CANCELLED"}
            if not isinstance(raised, Cancelled):
                raise
        else:
            self.task = Task(work, is_blocking)

    def cancel(self) -> None:
        """Cancel the work. The steps get Cancelled, or, where partial results are kept, these when they are there."""
        self.is_cancelled = True
        if self.task is not None:
            self.task.cancel()
            if not self.keeps_partial:
                self._advance(False, Cancelled())

    def drop(self) -> None:
        """Cancel the work and leave the steps where they are: the result is no longer wanted."""
        if self.task is not None:
            self.task.cancel()
        self.result = self.result or {"CANCELLED"}
        self._steps.close()


def has_windows() -> bool:
    """Return whether Blender has windows, so that work can run beside them."""
    return not bpy.app.background


_shown: dict[Flow, int] = {}
"""The flows that operators wait for, and the session_uid of their scenes."""


def shown_flow(scene: bpy.types.Scene, title: str) -> Flow | None:
    """Return the flow of this title that an operator waits for in a scene."""
    return next((flow for flow in shown_flows(scene) if flow.title == title), None)


def shown_flows(scene: bpy.types.Scene) -> list[Flow]:
    """Return the flows that operators wait for in a scene."""
    return [flow for flow, uid in _shown.items() if uid == scene.session_uid]


def seconds_to_wait(context: bpy.types.Context) -> float | None:
    """Return how long to wait for work before a modal operator does; None where there is no window for one."""
    return MODAL_AFTER_S if has_windows() and context.window is not None else None


def end_all() -> None:
    """End all work that runs."""
    tasks = list(Task.running)
    for task in tasks:
        task.cancel()
    for task in tasks:
        task.wait(JOIN_TIMEOUT_S)


# --- operators ------------------------------------------------------------------------------------------------------


if TYPE_CHECKING:
    OperatorBase = bpy.types.Operator
else:  # Blender registers what its own classes are the direct bases of
    OperatorBase = object


class Polled(OperatorBase):
    """An operator that says why it is disabled."""

    @classmethod
    def disabled_reason(cls, context: bpy.types.Context) -> str:
        """Return why the operator is disabled, as a sentence; empty when it is enabled."""
        return ""

    @classmethod
    def poll(cls, context: bpy.types.Context) -> bool:
        if reason := cls.disabled_reason(context):
            cls.poll_message_set(reason)
        return not reason


class Undoable:
    """An operator that is a step of its own, to be undone, with a redo panel."""

    bl_options: Any = {"REGISTER", "UNDO"}


class BackgroundOperator(Polled):
    """An operator that takes steps; `execute` waits for all of their work."""

    title: ClassVar[str]
    """What the status bar says is being done."""
    keeps_partial: ClassVar[bool] = False
    seconds_at_once: ClassVar[float] = 0.0
    """How long Blender waits at each look at work that runs: for steps of which each takes a moment. Where it has been
    drawing for long since the look before, WORK_PER_DRAWING times as long, or it would do little else."""
    looked = math.inf
    flow: Flow | None = None
    is_modal = False
    """Whether it has given Blender back, so that much may have changed since the steps began."""
    _timer: bpy.types.Timer

    def steps(self, context: bpy.types.Context) -> Steps:
        """Do the job, yielding the long work."""
        raise NotImplementedError

    def execute(self, context: bpy.types.Context) -> set[str]:
        handlers.activate_gpu(context)
        self.flow = Flow(self.title, self.steps(context), self.keeps_partial)
        return self.proceed(context, None)

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        self.flow = Flow(self.title, self.steps(context), self.keeps_partial)
        return self.proceed(context, seconds_to_wait(context))

    def proceed(self, context: bpy.types.Context, seconds: float | None) -> set[str]:
        """Take the steps, and wait as a modal operator for what takes longer than `seconds`."""
        flow = self.flow
        try:
            flow.run(seconds, time.monotonic() + (seconds or 0.0) if self.seconds_at_once else math.inf)
        except ReferenceError:
            self.report({"ERROR"}, "An object was removed during the inspection: try again")
        except (ReadError, SeparateError) as error:
            self.report({"ERROR"}, str(error))
        finally:
            if flow.result is not None:
                self._end(context)
        if flow.result is not None:
            for kind, text in flow.reports:
                self.report({kind}, text)
            return flow.result
        if not self.is_modal:
            self.is_modal = flow.is_shown = True
            _shown[flow] = context.scene.session_uid
            self._timer = context.window_manager.event_timer_add(POLL_INTERVAL_S, window=context.window)
            context.window_manager.modal_handler_add(self)
        return {"RUNNING_MODAL"}

    def modal(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        flow = self.flow
        if flow.result is not None:  # it was dropped, or ended by what follows Blender
            self._end(context)
            return {*flow.result, "PASS_THROUGH"}
        if event.type == "ESC" and event.value == "PRESS" and not is_other_modal(context):
            flow.cancel()
            if flow.result == {"CANCELLED"}:
                self.report({"INFO"}, f"{flow.title} cancelled")
            return self.proceed(context, 0.0)
        if event.type != "TIMER":
            return {"PASS_THROUGH"}
        if context.workspace is not None:
            context.workspace.status_text_set(flow.status)
        handlers.redraw()
        drawing = time.monotonic() - self.looked if self.seconds_at_once else 0.0
        seconds = max(self.seconds_at_once, min(WORK_PER_DRAWING * drawing, LONGEST_LOOK_S))
        result = self.proceed(context, seconds) - {"RUNNING_MODAL"} or {"PASS_THROUGH"}
        self.looked = time.monotonic()
        return result

    def cancel(self, context: bpy.types.Context) -> None:
        """Drop the work: Blender ends the operator, as for a new file."""
        if self.flow is not None:
            self.flow.drop()
        self._end(context)

    def _end(self, context: bpy.types.Context) -> None:
        _shown.pop(self.flow, None)
        if self.is_modal:
            self.is_modal = False
            context.window_manager.event_timer_remove(self._timer)
            if context.workspace is not None:
                context.workspace.status_text_set(None)
        handlers.redraw()


def is_other_modal(context: bpy.types.Context) -> bool:
    """Return whether another operator is modal, such as a drag: then Esc is for that one."""
    if context.window is None:
        return False
    return any(not each.bl_idname.startswith("CONTACT_LENS_OT_") for each in context.window.modal_operators)


_handed_over: Flow | None = None


def wait_for(flow: Flow) -> None:
    """Show the progress of steps that no operator has begun, until they end or Esc is pressed."""
    global _handed_over
    if not flow.is_shown:
        _handed_over = flow
        bpy.ops.contact_lens.wait("INVOKE_DEFAULT")  # type: ignore[attr-defined]


class CONTACT_LENS_OT_wait(BackgroundOperator, bpy.types.Operator):
    """Wait for work that runs in the background"""

    bl_idname = "contact_lens.wait"
    bl_label = "Wait"
    bl_options = {"INTERNAL"}

    def invoke(self, context: bpy.types.Context, event: bpy.types.Event) -> set[str]:
        global _handed_over
        self.flow, _handed_over = _handed_over, None
        return {"CANCELLED"} if self.flow is None else self.proceed(context, 0.0)

    def execute(self, context: bpy.types.Context) -> set[str]:
        return {"CANCELLED"}


CANCELLATIONS: dict[str, tuple[str, Callable[[bpy.types.Scene], None]]] = {}
"""By the kind of work: the tooltip of its button Cancel, and the function that cancels it for a scene."""


class CONTACT_LENS_OT_cancel(bpy.types.Operator):
    """Cancel the work that is running"""

    bl_idname = "contact_lens.cancel"
    bl_label = "Cancel"
    bl_options = {"INTERNAL"}

    work: StringProperty(options={"HIDDEN"})  # type: ignore[valid-type]

    @classmethod
    def description(cls, context: bpy.types.Context, properties: Any) -> str:
        return CANCELLATIONS[properties.work][0]

    def execute(self, context: bpy.types.Context) -> set[str]:
        CANCELLATIONS[self.work][1](context.scene)
        return {"FINISHED"}


CLASSES = (CONTACT_LENS_OT_wait, CONTACT_LENS_OT_cancel)

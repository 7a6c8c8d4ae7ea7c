# SPDX-License-Identifier: GPL-3.0-or-later
"""Glyphs on the GPU: one shader, and batches kept until what they show changes."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import lru_cache
from weakref import WeakKeyDictionary

import gpu
import numpy as np
from mathutils import Matrix

from ...core.types import FloatArray
from ..data.look import Color
from ..layers.glyphs import GLYPH, GlyphArray
from ..layers.overlay_geometry import Layer

HALO_COLOR: Color = (0.05, 0.05, 0.06, 0.75)
"""Around every line and mark: bright colours need it on a light background and dark ones on a dark object."""

NOT_CUT = np.array((0.0, 0.0, 0.0, 1.0))
"""A plane on whose positive side everything is."""

_VERTEX = """
void main()
{
    vec2 viewport = picture.xy;
    float halo = picture.z;
    shape = form.x;
    glyph_color = color;
    faded = (form.x < 0.5) ? end : vec3(0.0);
    place = start;
    vec3 toward_eye = eye.xyz - eye.w * start;
    if (dot(side_a, toward_eye) * dot(side_b, toward_eye) > 0.0) { /* not part of the outline: outside of the view */
        local = vec2(0.0);
        measures = vec4(0.0);
        gl_Position = vec4(2.0, 2.0, 2.0, 1.0);
        return;
    }
    vec4 a = matrix * vec4(start, 1.0);
    vec4 b = matrix * vec4(end, 1.0);
    if (form.x < 0.5) { /* fill */
        local = vec2(0.0);
        measures = vec4(form.yzw, 0.0);
        gl_Position = a;
        return;
    }
    /* A line that comes from behind the viewer starts at the near plane. */
    float near_a = a.z + a.w;
    float near_b = b.z + b.w;
    if (near_a < 0.0 && near_b > 0.0) {
        a = mix(a, b, near_a / (near_a - near_b));
    }
    else if (near_b < 0.0 && near_a > 0.0) {
        b = mix(b, a, near_b / (near_b - near_a));
    }
    vec2 delta = (b.xy / b.w - a.xy / a.w) * 0.5 * viewport;
    float span = length(delta);
    vec2 along = (span > 1e-4) ? delta / span : vec2(1.0, 0.0);
    vec2 across = vec2(-along.y, along.x);

    float radius = form.y;
    float extra = form.z;
    float reach = halo + 1.0;
    vec4 at = (corner.x > 0.5) ? b : a;
    vec2 offset;
    if (form.x < 1.5) { /* stroke */
        float trim = extra * min(1.0, 0.5 * span / max(extra, 1e-4));
        offset = corner.yz * (radius + reach);
        local = vec2(corner.x * span, 0.0) + offset;
        measures = vec4(radius, max(span - trim, 0.0), form.w, 0.0);
    }
    else if (form.x > 8.5) { /* arrowhead: no longer than half the arrow */
        float fit = min(1.0, 0.5 * span / max(extra, 1e-4));
        float head = extra * fit;
        offset = vec2((corner.y < 0.0) ? -head - reach : 2.0 * reach, corner.z * (radius * fit + 2.0 * reach));
        local = offset;
        measures = vec4(radius * fit, head, 0.0, 0.0);
    }
    else { /* mark */
        offset = corner.yz * (radius * 1.5 + extra + reach);
        local = offset;
        measures = vec4(radius, extra, 0.0, 0.0);
    }
    at.xy += (along * offset.x + across * offset.y) * 2.0 / viewport * at.w;
    gl_Position = at;
}
"""

_FRAGMENT = """
/* Distance in pixels from the glyph's edge, negative inside. */
float distance_to_edge()
{
    float radius = measures.x;
    if (shape < 0.5) {
        return -1.0;
    }
    if (shape < 1.5) { /* stroke with round ends, perhaps dashed */
        float x = local.x - clamp(local.x, 0.0, measures.y);
        float period = measures.z;
        if (period > 0.0 && measures.y > period) {
            float phase = mod(local.x, period) - 0.6 * period;
            x = max(abs(x), min(max(phase, 0.0), max(0.4 * period - phase, 0.0)));
        }
        return length(vec2(x, local.y)) - radius;
    }
    if (shape < 2.5) { /* disc */
        return length(local) - radius;
    }
    if (shape < 3.5) { /* square */
        return max(abs(local.x), abs(local.y)) - radius * 0.886;
    }
    if (shape < 4.5) { /* diamond */
        return (abs(local.x) + abs(local.y)) * 0.7071 - radius * 0.886;
    }
    if (shape < 5.5) { /* ring */
        return abs(length(local) - radius) - measures.y;
    }
    if (shape < 6.5) { /* triangle on its base */
        return max(-local.y, 0.866 * abs(local.x) + 0.5 * local.y) - radius * 0.6;
    }
    if (shape < 7.5) { /* cross */
        vec2 arms = abs(vec2(local.x + local.y, local.x - local.y)) * 0.7071;
        return max(max(arms.x, arms.y) - radius * 1.2, min(arms.x, arms.y) - measures.y);
    }
    if (shape < 8.5) { /* lower half of a disc */
        return max(length(local) - radius, local.y);
    }
    /* arrowhead, tip at the origin */
    float head = max(measures.y, 1e-4);
    vec2 slope = normalize(vec2(radius, head));
    return max(-head - local.x, dot(vec2(local.x, abs(local.y)), slope));
}

void main()
{
    if (dot(cut, vec4(place, 1.0)) < 0.0) {
        discard;
    }
    float halo = picture.z;
    vec4 paint = glyph_color;
    if (halo > 0.0) {
        if (shape < 0.5) {
            discard;
        }
        paint = vec4(halo_color.rgb, halo_color.a * glyph_color.a);
    }
    if (shape < 0.5 && measures.z != 0.0) { /* hatched */
        float period = abs(measures.z);
        float across = mod(gl_FragCoord.y - sign(measures.z) * gl_FragCoord.x, period);
        float line = clamp(0.5 + 0.25 * period - abs(across - 0.5 * period), 0.0, 1.0);
        paint.a *= mix(measures.x, 1.0, line);
        paint.rgb *= 1.0 - measures.y * line;
    }
    paint.a *= picture.w * clamp(0.5 + halo - distance_to_edge(), 0.0, 1.0);
    paint.a *= 1.0 - smoothstep(0.5, 1.0, length(faded));
    if (paint.a <= 0.0) {
        discard;
    }
    if (srgbTarget) { /* set by Blender: this target encodes what is written, so write linear */
        vec3 low = paint.rgb / 12.92;
        vec3 high = pow((max(paint.rgb, vec3(0.0)) + 0.055) / 1.055, vec3(2.4));
        paint.rgb = mix(high, low, vec3(lessThanEqual(paint.rgb, vec3(0.04045))));
    }
    fragment_color = paint;
}
"""

_ATTRIBUTES = (("start", 3), ("end", 3), ("corner", 3), ("form", 4), ("color", 4), ("side_a", 3), ("side_b", 3))
_BATCHES_KEPT = 14
"""Pictures whose batches are kept: a scene has up to seven (surfaces of the pair, contact, step, volumes, descent, dots
and outlines of clashes), and two windows may show two scenes."""

_shader: gpu.types.GPUShader | None = None
_format: gpu.types.GPUVertFormat | None = None
_batches: OrderedDict[Hashable, list[tuple[Layer, gpu.types.GPUBatch]]] = OrderedDict()
_batches_of: WeakKeyDictionary[Hashable, list[gpu.types.GPUBatch | None]] = WeakKeyDictionary()
"""Of what depends on the view, as long as that is kept."""


def _compiled() -> gpu.types.GPUShader:
    """The shader, made at the first use: there is no GPU when the add-on is registered."""
    global _shader
    if _shader is None:
        interface = gpu.types.GPUStageInterfaceInfo("contact_lens_glyph")
        # In pixels, so they must not be divided by depth on the delta.
        interface.no_perspective("VEC2", "local")
        interface.smooth("VEC3", "faded")
        interface.smooth("VEC3", "place")
        interface.flat("VEC4", "measures")
        interface.smooth("VEC4", "glyph_color")
        interface.flat("FLOAT", "shape")
        info = gpu.types.GPUShaderCreateInfo()
        for location, (name, count) in enumerate(_ATTRIBUTES):
            info.vertex_in(location, f"VEC{count}", name)  # type: ignore[arg-type]
        info.vertex_out(interface)
        # At most 128 bytes, as many as drivers promise; Blender counts a FLOAT, VEC2 or BOOL twice.
        info.push_constant("MAT4", "matrix")
        info.push_constant("VEC4", "eye")
        info.push_constant("VEC4", "cut")
        info.push_constant("VEC4", "picture")  # its size in pixels, halo and opacity
        info.push_constant("BOOL", "srgbTarget")
        info.fragment_out(0, "VEC4", "fragment_color")
        info.vertex_source(_VERTEX)
        info.fragment_source(f"const vec4 halo_color = vec4{HALO_COLOR};\n{_FRAGMENT}")
        _shader = gpu.shader.create_from_info(info)
    return _shader


def _upload(glyphs: GlyphArray) -> gpu.types.GPUBatch:
    global _format
    if _format is None:
        _format = gpu.types.GPUVertFormat()
        for name, count in _ATTRIBUTES:
            _format.attr_add(id=name, comp_type="F32", len=count, fetch_mode="FLOAT")
    if glyphs.dtype != GLYPH:
        raise TypeError(f"glyphs must have the GLYPH dtype, not {glyphs.dtype}")
    buffer = gpu.types.GPUVertBuf(format=_format, len=len(glyphs))
    for name, _ in _ATTRIBUTES:
        # Blender draws nothing, without a word, from an array that is not contiguous float32.
        data = np.ascontiguousarray(glyphs[name], dtype=np.float32)
        buffer.attr_fill(id=name, data=data)  # type: ignore[arg-type]
    return gpu.types.GPUBatch(type="TRIS", buf=buffer)


def layers_on_gpu(signature: Hashable, build: Callable[[], list[Layer]]) -> list[tuple[Layer, gpu.types.GPUBatch]]:
    """The layers kept under `signature`, each with its batch; built and uploaded when there are none yet."""
    if signature not in _batches:
        _batches[signature] = [(layer, _upload(layer.glyphs)) for layer in build()]
        while len(_batches) > _BATCHES_KEPT:
            _batches.popitem(last=False)
    _batches.move_to_end(signature)
    return _batches[signature]


def batches_of(owner: Hashable, parts: tuple[GlyphArray, ...]) -> list[gpu.types.GPUBatch | None]:
    """The batches of an owner's parts, None of an empty one; kept as long as the owner is."""
    if owner not in _batches_of:
        _batches_of[owner] = [_upload(glyphs) if len(glyphs) else None for glyphs in parts]
    return _batches_of[owner]


def free() -> None:
    """Let go of everything on the GPU."""
    global _shader, _format
    _batches.clear()
    _batches_of.clear()
    _shader = _format = None


@contextmanager
def state_restored() -> Iterator[None]:
    """Blend with alpha and write no depth; restore the GPU's state at the end."""
    blend, depth_test, depth_mask = gpu.state.blend_get(), gpu.state.depth_test_get(), gpu.state.depth_mask_get()
    try:
        gpu.state.blend_set("ALPHA")
        gpu.state.depth_mask_set(False)
        yield
    finally:
        gpu.state.blend_set(blend)  # type: ignore[arg-type]
        gpu.state.depth_test_set(depth_test)  # type: ignore[arg-type]
        gpu.state.depth_mask_set(depth_mask)


@lru_cache(64)
def _eye(matrix: bytes) -> list[float]:
    """Return the point in front of every pixel, in homogeneous coordinates: a direction in an orthographic view."""
    eye = np.linalg.pinv(np.frombuffer(matrix).reshape(4, 4)) @ (0.0, 0.0, -1.0, 0.0)
    return list((eye / np.linalg.norm(eye)).tolist())


class Pen:
    """The bound shader for one picture: matrix and size are set once, opacity and halo per draw."""

    def __init__(self, matrix: FloatArray, size: tuple[int, int], cut: FloatArray = NOT_CUT) -> None:
        """cut: (4,) a plane in the frame of the glyphs; fills are drawn on its positive side only."""
        self._shader = _compiled()
        self._cut = cut.tolist()
        self._matrix = Matrix(np.asarray(matrix, dtype=np.float64).tolist())
        self._eye = _eye(np.asarray(matrix, dtype=np.float64).tobytes())
        self._size = (float(size[0]), float(size[1]))

    def draw(self, batch: gpu.types.GPUBatch, opacity: float, halo: float = 0.0) -> None:
        """Draw a batch, as its rim `halo` pixels wider when that is given."""
        shader = self._shader
        shader.bind()
        shader.uniform_float("matrix", self._matrix)  # type: ignore[arg-type]
        shader.uniform_float("eye", self._eye)
        shader.uniform_float("cut", self._cut)
        shader.uniform_float("picture", (*self._size, halo, opacity))
        batch.draw(shader)

    def draw_once(self, glyphs: GlyphArray, opacity: float = 1.0, halo: float = 0.0) -> None:
        """Draw glyphs that change with the view and are not worth keeping."""
        if len(glyphs) == 0:
            return
        batch = _upload(glyphs)
        if halo > 0.0:
            self.draw(batch, opacity, halo)
        self.draw(batch, opacity)

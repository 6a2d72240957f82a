// What passes remark, with places; as text, JSON and YAML; compared with expected remarks.

// RUN: tile-opt %s -p 'tile-compile{machine=t4}' --remarks --verify-each=false 2>&1 >/dev/null | filecheck %s
// RUN: tile-opt %s -p 'tile-compile{machine=t4}' --remarks=fusion 2>&1 >/dev/null | filecheck %s --check-prefix=ONLY
// RUN: tile-opt %s -p 'tile-compile{machine=t4}' --remarks-file=%t.json 2>&1 >/dev/null | filecheck %s --check-prefix=QUIET --allow-empty
// RUN: filecheck %s --check-prefix=JSON --input-file %t.json
// RUN: tile-opt %s -p 'tile-compile{machine=t4}' --remarks=choice --remarks-file=%t.yaml > /dev/null
// RUN: filecheck %s --check-prefix=YAML --input-file %t.yaml
// RUN: tile-opt %s -p tile-fuse-epilogues --remarks --verify-diagnostics
// RUN: not tile-opt %s --remarks='(' 2>&1 | filecheck %s --check-prefix=REGEX
// RUN: tile-opt %s -p 'tile-compile{machine=t4}' 2>&1 >/dev/null | filecheck %s --check-prefix=QUIET --allow-empty

func.func @main(%x: tensor<4x8xf16> {tile_tensor.input = "x"}, %b: tensor<8xf16> {tile_tensor.parameter = "b"}) -> tensor<4x8xf16> {
  %s = tile_tensor.add %x, %b : (tensor<4x8xf16>, tensor<8xf16>) -> tensor<4x8xf16>
  // expected-remark@+1 {{bias and gelu are one operation, `g` [tile-fuse-epilogues: fusion]}}
  %g = tile_tensor.gelu %s approximate "tanh" : (tensor<4x8xf16>) -> tensor<4x8xf16>
  func.return %g : tensor<4x8xf16>
}

// CHECK: remarks.mlir:16:8: remark: bias and gelu are one operation, `g` [tile-fuse-epilogues: fusion]
// CHECK-NEXT: %g = tile_tensor.gelu
// CHECK-NEXT: ^~~~
// CHECK: remarks.mlir:16:8: remark: `g`: {{.*}} [tile-plan-layouts: choice]
// ONLY: fusion
// ONLY-NOT: choice
// QUIET-NOT: remark
// JSON: "format": "tilewright-remarks"
// JSON: "pass": "tile-fuse-epilogues"
// JSON: "line": 16
// YAML: format: "tilewright-remarks"
// YAML: - pass: "tile-plan-layouts"
// YAML-NEXT: category: "choice"
// REGEX: error: --remarks takes a regular expression, `(` is none

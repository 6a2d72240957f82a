// Unknown dialects, operations, attributes and types are reported where they stand, with near names.

// RUN: not tile-opt %s -o %t 2>&1 | filecheck %s --match-full-lines
// RUN: printf '"test.op"() {a = #tile_layot.grid} : () -> ()\n' | not tile-opt 2>&1 | filecheck %s --check-prefix=ATTR
// RUN: printf '"test.op"() : () -> !tile_repeat.sequense<4>\n' | not tile-opt 2>&1 | filecheck %s --check-prefix=TYPE
// RUN: printf '  tile_tensr.add\n' | not tile-opt 2>&1 | filecheck %s --check-prefix=DIALECT

func.func @f(%a: i32) -> i32 {
  %b = arith.adddi %a, %a : i32
  func.return %b : i32
}

// CHECK: {{.*}}unknown_names.mlir:9:8: error: dialect `arith` has no operation `arith.adddi`
// CHECK-NEXT:   %b = arith.adddi %a, %a : i32
// CHECK-NEXT:        ^~~~~~~~~~~
// CHECK-NEXT: hint: did you mean `arith.addi` or {{.*}}?

// ATTR: <stdin>:1:19: error: unknown dialect `tile_layot` in the attribute `tile_layot.grid`
// ATTR: hint: did you mean `tile_layout`

// TYPE: <stdin>:1:22: error: dialect `tile_repeat` has no type `tile_repeat.sequense`
// TYPE: hint: did you mean `tile_repeat.sequence`

// DIALECT: <stdin>:1:3: error: unknown dialect `tile_tensr` in `tile_tensr.add`
// DIALECT-NEXT:   tile_tensr.add
// DIALECT-NEXT:   ^~~~~~~~~~~~~~
// DIALECT-NEXT: hint: did you mean `tile_tensor`

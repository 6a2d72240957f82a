// RUN: not tile-opt %s -p tile-plan-layouts --split-input-file 2>&1 | filecheck %s --check-prefix=FIELD
// RUN: sed -e 's/gird = array<i64: 1, 2, 1, 2>/grid = array<i64: 1, 4, 1, 2>/' %s | not tile-opt -p tile-plan-layouts 2>&1 | filecheck %s --check-prefix=LARGE
// RUN: sed -e 's/gird = array<i64: 1, 2, 1, 2>/grid = array<i64: 4, 1>/' %s | not tile-opt -p tile-plan-layouts 2>&1 | filecheck %s --check-prefix=PARTS
// RUN: sed -e 's/gird = array<i64: 1, 2, 1, 2>/grid = 4 : i64/' %s | not tile-opt -p tile-plan-layouts 2>&1 | filecheck %s --check-prefix=LIST
// RUN: sed -e 's/gird = array<i64: 1, 2, 1, 2>/share = "two"/' %s | not tile-opt -p tile-plan-layouts 2>&1 | filecheck %s --check-prefix=INTEGER
// RUN: sed -e 's/gird = array<i64: 1, 2, 1, 2>/swap = 1 : i64/' %s | not tile-opt -p tile-plan-layouts 2>&1 | filecheck %s --check-prefix=BOOL
// RUN: sed -e 's/gird = array<i64: 1, 2, 1, 2>/grid = array<i64: 1, 1, 1, 2>, share = 3 : i64/' %s | not tile-opt -p tile-plan-layouts 2>&1 | filecheck %s --check-prefix=SHARE
// RUN: sed -e 's/{plan = .*}}/{plan = 3 : i64}/' %s | not tile-opt -p tile-plan-layouts 2>&1 | filecheck %s --check-prefix=DICTIONARY

builtin.module attributes {tile.machine = "t4"} {
  func.func @main(%x: tensor<8x32xf16> {tile_tensor.input = "x"}, %w: tensor<32x16xf16> {tile_tensor.parameter = "w"}) -> tensor<8x16xf16> {
    %y = tile_tensor.matmul %x, %w {plan = {gird = array<i64: 1, 2, 1, 2>}} : (tensor<8x32xf16>, tensor<32x16xf16>) -> tensor<8x16xf16>
    func.return %y : tensor<8x16xf16>
  }
}

// FIELD:      impossible_plans.mlir:12:10: error: plan has no field 'gird'
// FIELD-NEXT: %y = tile_tensor.matmul %x, %w
// FIELD-NEXT:      ^~~~~~~~~~~~~~~~~~
// FIELD-NEXT: note: fields of this operator's plan: grid, swap, share{{.*}}
// FIELD-NEXT: note: in pass `tile-plan-layouts`

// LARGE:      :12:10: error: {{.*}}grid [1, 4, 1, 2] needs 8 tiles{{.*}}; machine t4 has 4
// LARGE:      hint: lower one of the parts
// PARTS:      :12:10: error: {{.*}}grid [4, 1] is not four positive parts (batch, m, n, k)
// LIST:       :12:10: error: plan field 'grid' is a list of integers, not 4
// INTEGER:    :12:10: error: plan field 'share' is an integer, not 'two'
// BOOL:       :12:10: error: plan field 'swap' is true or false, not 1
// SHARE:      :12:10: error: {{.*}}share 3 does not divide the 1 column blocks in use, or there are no partials to reduce
// DICTIONARY: :12:10: error: `tile_tensor.matmul` does not verify: `plan` must be a dictionary, found 3 : i64

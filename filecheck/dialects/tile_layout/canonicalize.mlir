// RUN: tile-opt --print-layouts=full %s -p canonicalize | filecheck %s

!a = tensor<8xf16, #tile_layout.at<"[8]">>
!b = tensor<8xf16, #tile_layout.at<"[8/2@1]">>
!c = tensor<8xf16, #tile_layout.at<"[8/4@1]">>

// CHECK-LABEL: @a_conversion_to_the_same_layout_is_nothing
func.func @a_conversion_to_the_same_layout_is_nothing(%x: !a) -> !a {
  %y = tile_layout.convert %x : !a -> !a
  func.return %y : !a
}
// CHECK-NEXT: func.return %x

// CHECK-LABEL: @a_layout_that_only_a_conversion_reads_is_skipped
func.func @a_layout_that_only_a_conversion_reads_is_skipped(%x: !a) -> !c {
  %y = tile_layout.convert %x : !a -> !b
  %z = tile_layout.convert %y : !b -> !c
  func.return %z : !c
}
// CHECK-NEXT: tile_layout.convert %x : tensor<8xf16, #tile_layout.at<"[8]">> -> tensor<8xf16, #tile_layout.at<"[8/4@1]">>
// CHECK-NEXT: func.return

// CHECK-LABEL: @a_layout_that_others_read_stays
func.func @a_layout_that_others_read_stays(%x: !a) -> (!b, !c) {
  %y = tile_layout.convert %x : !a -> !b
  %z = tile_layout.convert %y : !b -> !c
  func.return %y, %z : !b, !c
}
// CHECK-NEXT: %y = tile_layout.convert %x
// CHECK-NEXT: %z = tile_layout.convert %y

// RUN: tile-opt --print-layouts=full %s -p 'tile-schedule-exchange{machine=t4}' | filecheck %s --check-prefix=AUTO
// RUN: tile-opt --print-layouts=full %s -p 'tile-schedule-exchange{machine=t4 items="words"}' | filecheck %s --check-prefix=WORDS
// RUN: tile-opt --print-layouts=full %s --exchange-items=words -p 'tile-schedule-exchange{machine=t4}' | filecheck %s --check-prefix=WORDS
// RUN: tile-opt --print-layouts=full %s -p 'tile-schedule-exchange{machine=t4 items="words"},tile-schedule-exchange{machine=t4 items="auto"}' | filecheck %s --check-prefix=AUTO
// RUN: not tile-opt %s -p 'tile-schedule-exchange{machine=t4 items="pairs"}' 2>&1 | filecheck %s --check-prefix=OTHER

// 1024 words for the two tiles of a pair take 512 cycles in items of 8 bytes; in words they take 1024, and the phase says
// so to the passes that make its rows.

// AUTO: bound = 512 : i64
// AUTO-SAME: paired = 1000 : i64
// AUTO-NOT: tile.exchange_items
// WORDS: bound = 1024 : i64
// WORDS-SAME: paired = 0 : i64
// WORDS: tile.exchange "to a pair" {{.*}} attributes {tile.exchange_items = "words"}
// OTHER: tile-schedule-exchange: items is 'auto' or 'words', not 'pairs'

builtin.module attributes {tile.machine = "t4"} {
  func.func @main() {
    %x = tile.alloc "x" activations : !tile.buffer<f32, "[1, 1024]">
    %pair = tile.alloc "pair" activations : !tile.buffer<f32, "[1, 1024] *2@1 +2">
    tile.exchange "to a pair" (%x "[1, 1024b]" -> %pair "[1, 1024b]") : !tile.buffer<f32, "[1, 1024]">, !tile.buffer<f32, "[1, 1024] *2@1 +2">
    func.return
  }
}

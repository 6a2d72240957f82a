// RUN: tile-opt %s -p tile-allocate-memory --machine t4
func.func@main(){tile.alloc"low"parameters at 0x80400:!tile.buffer<f32,"[65537] interleaved">func.return}

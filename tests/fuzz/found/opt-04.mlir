// RUN: tile-opt %s
tile.compute"cast"(%x"x0=0")->(%result"x0=0")axes"x0"scalars{saturate=1:i9223372036854775808

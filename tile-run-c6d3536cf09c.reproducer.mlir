// tilewright-reproducer: {"format": "tilewright-reproducer", "version": 1, "tool": "tile-run", "tilewright": "0.2.0", "xdsl": "0.75.0", "arguments": ["/tmp/pytest-of-root/pytest-225/test_truth_values_in_files0", "--machine", "t4"], "files": {}, "error": "ValueError: Invalid integer data type 'b'."}

        func.func @main(%a: tensor<3x5xi1> {tile_tensor.input = "a"},
            %w: tensor<5xi1> {tile_tensor.parameter = "w"})
            -> (tensor<3x5xi1> {tile_tensor.output = "y"}) {
          %y = tile_tensor.xor %a, %w : (tensor<3x5xi1>, tensor<5xi1>) -> tensor<3x5xi1>
          func.return %y : tensor<3x5xi1>
        }
// Traceback (most recent call last):
//   File "/work/tileopt/tools/driver/main.py", line 91, in run_tool
//     status = tool(arguments) or EXIT_GOOD
//              ^^^^^^^^^^^^^^^
//   File "/work/tileopt/tools/tile_run.py", line 188, in run
//     job = _prepare(options)
//           ^^^^^^^^^^^^^^^^^
//   File "/work/tileopt/tools/tile_run.py", line 239, in _prepare
//     _check_surface(job, reads, tolerances=options.calibrate is None)
//   File "/work/tileopt/tools/tile_run.py", line 263, in _check_surface
//     job.runs = run_checks.check_files(reads, job.folder, options.runs, options.parameters, options.inputs)
//                ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//   File "/work/tileopt/tools/run_checks.py", line 103, in check_files
//     _check_numbers("parameter", name, tensor, program.dtypes[name])
//   File "/work/tileopt/tools/run_checks.py", line 135, in _check_numbers
//     limits = np.iinfo(numpy_dtype(dtype))
//              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^
//   File "/work/tileopt/.venv/lib/python3.11/site-packages/numpy/_core/getlimits.py", line 421, in __init__
//     raise ValueError(f"Invalid integer data type {self.kind!r}.")
// ValueError: Invalid integer data type 'b'.

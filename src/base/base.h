/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face of src/base: errors, clean-up, strings, arrays, maps, JSON, YAML, TOML, CSV, options, log,
 * files, names below a root, paths, threads, times,
 * the event loop. It knows no GPU word. Start reading at error.h and cleanup.h.
 */
#pragma once

#include "base/cleanup.h"
#include "base/columns.h"
#include "base/csv.h"
#include "base/error.h"
#include "base/file.h"
#include "base/json.h"
#include "base/json_stream.h"
#include "base/log.h"
#include "base/loop.h"
#include "base/map.h"
#include "base/option.h"
#include "base/parallel.h"
#include "base/parse.h"
#include "base/paths.h"
#include "base/root.h"
#include "base/start.h"
#include "base/strbuf.h"
#include "base/table.h"
#include "base/toml.h"
#include "base/toml_edit.h"
#include "base/utc.h"
#include "base/vec.h"
#include "base/visible.h"
#include "base/watch.h"
#include "base/yaml.h"
#include "base/yaml_items.h"

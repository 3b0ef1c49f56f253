/* SPDX-License-Identifier: Apache-2.0 */
/* What the references ask of one card, whoever holds what. Nothing of src/place. */
#pragma once

#include <stdbool.h>

#include "base/base.h"
#include "model/model.h"

bool naive_lists(const struct string_list *list, const char *text);
bool naive_right_model(const struct request *request, const struct card *card);
bool naive_right_uuid(const struct request *request, const struct card *card);
/* Does a process without a grant use it? */
bool naive_is_foreign(const struct card *card);

/* Undoes what for_each_target.h defined for one instruction set. */
#undef CWB_TARGET
#undef CWB_TARGET_NUMBER
#undef CWB_REGISTER_BYTES
#undef CWB_LANES
#undef CWB_PARTS
#undef CWB_PER_PART
